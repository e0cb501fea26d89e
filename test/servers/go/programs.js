import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))

/** Programs in Go that tests need; of each, the folder of its sources, and where `test/servers/go/build.js` puts it. */
export const ferretdb = programOf('ferretdb')
export const compose = programOf('compose')

/** A folder for each version of the sources. @param {string} name */
function programOf (name) {
  const sources = join(here, name)
  const hash = createHash('sha256')
  for (const file of ['main.go', 'go.mod']) hash.update(readFileSync(join(sources, file)))
  const version = hash.digest('hex').slice(0, 12)
  return { name, sources, program: join(here, '..', '..', '..', 'node_modules', '.cache', 'sluice', `${name}-${version}`, name) }
}
