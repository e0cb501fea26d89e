import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../base/files.js'
import { PACKAGE_ROOT } from '../run/settings.js'
import { hashOf } from './parts.js'

/**
 * What was applied last, so that what somebody has edited since is known.
 *
 * @typedef {import('./parts.js').FlowNode} FlowNode
 */

const FILE = 'applied.json'

/**
 * Whether somebody has made these flows here: they are neither what was applied nor what every gateway begins with.
 * @param {string} userDir
 * @param {FlowNode[]} nodes
 */
export function isEdited (userDir, nodes) {
  if (nodes.length === 0) return false
  const hash = hashOf(nodes)
  return hash !== lastApplied(userDir) && hash !== hashOf(defaultFlow())
}

/** @param {string} userDir @param {FlowNode[]} nodes */
export async function rememberApplied (userDir, nodes) {
  const hash = hashOf(nodes)
  if (hash !== lastApplied(userDir)) await replaceFile(join(userDir, FILE), `${JSON.stringify({ hash })}\n`)
}

/** With which a gateway begins. @returns {FlowNode[]} */
export function defaultFlow () {
  return JSON.parse(readFileSync(join(PACKAGE_ROOT, 'flows', 'flows.json'), 'utf8'))
}

/** @param {string} userDir */
function lastApplied (userDir) {
  try {
    return JSON.parse(readFileSync(join(userDir, FILE), 'utf8')).hash
  } catch {
    return null // nothing was, or it is damaged: then what is there counts as edited
  }
}
