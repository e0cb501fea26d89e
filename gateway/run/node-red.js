import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { SluiceError } from '../base/errors.js'

/**
 * Node-RED, the express it brings and the websockets of its editor, from wherever Node-RED is: beside this package, under the current
 * folder, or installed globally.
 * @returns {{RED: any, express: any, WebSocketServer: any}} none brings types
 * @throws {SluiceError} SLUICE_NODE_RED_MISSING
 */
export function loadNodeRed () {
  const path = find('node-red')
  if (!path) {
    throw new SluiceError('SLUICE_NODE_RED_MISSING', 'Node-RED is not installed.', {
      fix: 'Install it beside Sluice: npm install node-red'
    })
  }
  const require = createRequire(path)
  const editorRequire = createRequire(require.resolve('@node-red/editor-api'))
  return { RED: require(path), express: require('express'), WebSocketServer: editorRequire('ws').Server }
}

/** Without loading it. @returns {string|null} null where it is not installed */
export function nodeRedVersion () {
  const path = find('node-red/package.json')
  return path && JSON.parse(readFileSync(path, 'utf8')).version
}

/** @param {string} name  of a module, or of a file in it */
function find (name) {
  const prefix = dirname(process.execPath)
  const places = [import.meta.filename, join(process.cwd(), 'flows'), join(prefix, '..', 'lib', 'node-red'), join(prefix, 'node-red')]
  for (const place of places) {
    const path = resolveFrom(place, name)
    if (path) return path
  }
  return null
}

/** @param {string} place  a file, whose node_modules folders are searched as Node does @param {string} name */
function resolveFrom (place, name) {
  try {
    return createRequire(place).resolve(name)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}
