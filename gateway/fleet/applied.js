import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../base/files.js'
import { PACKAGE_ROOT } from '../run/settings.js'
import { hashOf } from './parts.js'

/**
 * What was applied last, so that what somebody has edited since is known; and what was begun, until it is done: files may have been
 * replaced by then whose nodes still work with the former ones.
 *
 * @typedef {import('./parts.js').FlowNode} FlowNode
 * @typedef {{hash?: string, begun?: string}} Applied  hashes of flows
 */

const FILE = 'applied.json'

/**
 * Whether somebody has made these flows here: they are neither what was applied nor what every gateway begins with.
 * @param {string} userDir
 * @param {FlowNode[]} nodes
 */
export function isEdited (userDir, nodes) {
  if (nodes.length === 0) return false
  const { hash, begun } = lastApplied(userDir)
  return ![hash, begun, hashOf(defaultFlow())].includes(hashOf(nodes))
}

/** Whether an apply was killed or refused before it was done. @param {string} userDir */
export function isUnfinished (userDir) {
  return lastApplied(userDir).begun !== undefined
}

/** @param {string} userDir @param {FlowNode[]} nodes */
export function rememberBegun (userDir, nodes) {
  return remember(userDir, { hash: lastApplied(userDir).hash, begun: hashOf(nodes) })
}

/** @param {string} userDir @param {FlowNode[]} nodes */
export async function rememberApplied (userDir, nodes) {
  const hash = hashOf(nodes)
  if (hash !== lastApplied(userDir).hash || isUnfinished(userDir)) await remember(userDir, { hash })
}

/** With which a gateway begins. @returns {FlowNode[]} */
export function defaultFlow () {
  return JSON.parse(readFileSync(join(PACKAGE_ROOT, 'flows', 'flows.json'), 'utf8'))
}

/** @param {string} userDir @returns {Applied} */
function lastApplied (userDir) {
  try {
    return JSON.parse(readFileSync(join(userDir, FILE), 'utf8'))
  } catch {
    return {} // nothing was, or it is damaged: then what is there counts as edited
  }
}

/** @param {string} userDir @param {Applied} applied */
function remember (userDir, applied) {
  return replaceFile(join(userDir, FILE), `${JSON.stringify(applied)}\n`)
}
