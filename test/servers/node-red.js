import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pinnedFolder } from './pinned.js'
import { requireServer } from './programs.js'

/** The program of the oldest Node-RED that package.json allows. */
export const oldestNodeRed = join(pinnedFolder('node-red'), 'node_modules', 'node-red', 'red.js')

/** Skips the suite where it is not installed. @param {Mocha.Context} context */
export function requireOldestNodeRed (context) {
  const missing = existsSync(oldestNodeRed) ? null : 'the older Node-RED is not installed (node test/servers/node-red/install.js)'
  requireServer(context, 'older-nodes', missing)
}
