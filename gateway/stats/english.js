import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { speaker } from './phrases.js'

/** What alarms say in logs, messages and metrics. The live page says it in the language of its reader, from the same phrases. */
export const inEnglish = speaker(JSON.parse(readFileSync(join(import.meta.dirname, 'locales', 'en-US.json'), 'utf8')), 'en-US')
