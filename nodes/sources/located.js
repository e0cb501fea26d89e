import { existsSync } from 'node:fs'
import path from 'node:path'
import { packaged } from '../../gateway/base/packaged.js'

/**
 * The path of a file. A relative one that does not exist in the working directory is in the package, where the example data are.
 * @param {string} file
 */
export function located (file) {
  return existsSync(file) ? path.resolve(file) : packaged(file)
}
