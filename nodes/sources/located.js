import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const packageRoot = fileURLToPath(new URL('../../', import.meta.url))

/**
 * A relative path that is not there from the working directory is one of the package's, where the example data are.
 * @param {string} file
 */
export function located (file) {
  return existsSync(file) ? path.resolve(file) : path.resolve(packageRoot, file)
}
