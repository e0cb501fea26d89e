import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { paths, siteFile } from '../gateway/site/site.js'

/** Writes the documentation site into a folder, as it is for any web server: the gateway serves the same at `/sluice/docs/`. */
const { values: { out } } = parseArgs({ options: { out: { type: 'string', default: 'dist/site' } } })
for (const name of paths()) {
  const file = path.join(out, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, siteFile(name)?.body ?? '')
}
console.log(`The site is in ${out}.`)
