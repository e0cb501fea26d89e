import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pinnedFolder } from './pinned.js'
import { requireServer } from './programs.js'

/** The oldest Node that package.json's `engines` allows. */
export const oldestNode = binary('node-22')
/** One that is too old. */
export const tooOldNode = binary('node-20')

/** Skips the suite where the older versions of Node are not installed. @param {Mocha.Context} context */
export function requireOlderNodes (context) {
  const isInstalled = existsSync(oldestNode) && existsSync(tooOldNode)
  requireServer(
    context,
    'older-nodes',
    isInstalled ? null : 'the older versions of Node are not installed (node test/servers/node/install.js)'
  )
}

/** @param {string} name  of its package */
function binary (name) {
  return join(pinnedFolder('node'), 'node_modules', name, 'bin', 'node')
}
