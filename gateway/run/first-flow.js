import { readFileSync } from 'node:fs'
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
  const nodes = readFlow(from)
  const credentials = nodes.filter(node => node.credentials).map(node => [node.id, node.credentials])
  const flow = nodes.map(({ credentials: _moved, ...node }) => node)
  if (credentials.length > 0) replace(path.replace(/\.json$/, '_cred.json'), Object.fromEntries(credentials))
  replace(path, flow) // last: a folder with a flow is complete
}

/** @param {string} file @returns {any[]} */
function readFlow (file) {
  try {
    const nodes = JSON.parse(readFileSync(file, 'utf8'))
    if (Array.isArray(nodes) && nodes.every(node => typeof node?.id === 'string' && typeof node.type === 'string')) return nodes
    throw new Error('it is not a list of nodes')
  } catch (cause) {
    throw new SluiceError('SLUICE_FLOW_FILE', `The first flow ${file} cannot be used: ${describe(cause)}.`, {
      fix: 'Give the path of a file exported from the editor.',
      cause
    })
  }
}

/** @param {string} path @param {unknown} content */
function replace (path, content) {
  replaceFileSync(path, `${JSON.stringify(content, null, 4)}\n`)
}
