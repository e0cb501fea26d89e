import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of FerretDB's sources. */
export const ferretdbSources = dirname(fileURLToPath(import.meta.url))

/** Where `test/servers/ferretdb/build.js` puts the program: a folder for each version of the sources. */
export const ferretdbProgram = join(
  ferretdbSources,
  '..',
  '..',
  '..',
  'node_modules',
  '.cache',
  'sluice',
  `ferretdb-${versionOf(['main.go', 'go.mod'])}`,
  'ferretdb'
)

/** @param {string[]} files */
function versionOf (files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(join(ferretdbSources, file)))
  return hash.digest('hex').slice(0, 12)
}
