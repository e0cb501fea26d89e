import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Where the example data were in 0.1: flows still name them so. */
const FORMERLY = /^examples\/data\//

/** The path in the package of a file that a flow names. @param {string} file  relative to the package, or absolute */
export function packaged (file) {
  return resolve(ROOT, file.replace(FORMERLY, 'data/'))
}
