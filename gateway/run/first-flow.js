import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SluiceError, describe } from '../base/errors.js'
import { replaceFileSync } from '../base/files.js'

/**
 * What a user folder begins with: a copy, so that editing never changes the file. Passwords of its nodes (`credentials`, as a rule names
 * of environment variables such as `${DATABASE_PASSWORD}`) go where Node-RED looks for them; with the first deploy it encrypts them.
 * @param {string} from  as the editor exports it
 * @param {string} path  FOLDER/NAME.json, not there yet
 * @throws {SluiceError} SLUICE_FLOW_FILE
 */
export function copyFirstFlow (from, path) {
  const nodes = readFlow(from, 'first flow')
  const credentials = nodes.filter(node => node.credentials).map(node => [node.id, node.credentials])
  const flow = nodes.map(({ credentials: _moved, ...node }) => node)
  if (credentials.length > 0) replace(path.replace(/\.json$/, '_cred.json'), Object.fromEntries(credentials))
  replace(path, flow) // last: a folder with a flow is complete
}

/**
 * Where a flow cannot be read, Node-RED would begin with none, and say that it runs; the next deploy would replace it.
 * @param {string} path
 * @throws {SluiceError} SLUICE_FLOW_FILE
 */
export function checkFlow (path) {
  const backup = join(dirname(path), `.${basename(path)}.backup`)
  // By which Node-RED replaces a file that a power cut left empty.
  if (sizeOf(path) === 0 && sizeOf(backup) > 0) return
  readFlow(path, 'flow')
}

/** @param {string} path */
function sizeOf (path) {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** @param {string} file @param {string} what @returns {any[]} */
function readFlow (file, what) {
  try {
    const nodes = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
    if (Array.isArray(nodes) && nodes.every(node => typeof node?.id === 'string' && typeof node.type === 'string')) return nodes
    throw new Error('it is not a list of nodes')
  } catch (cause) {
    throw new SluiceError('SLUICE_FLOW_FILE', `The ${what} ${file} cannot be used: ${describe(cause)}.`, {
      fix: 'Give the path of a file exported from the editor, or put one there; beside a flow lies that of before, .NAME.json.backup.',
      cause
    })
  }
}

/** @param {string} path @param {unknown} content */
function replace (path, content) {
  replaceFileSync(path, `${JSON.stringify(content, null, 4)}\n`)
}
