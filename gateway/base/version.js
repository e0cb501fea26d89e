import { readFileSync } from 'node:fs'

/** Of this package. @type {{version: string}} */
export const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
