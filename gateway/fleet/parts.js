import { createHash } from 'node:crypto'

/**
 * A flow as files: one for each tab and each subflow, and one for the servers and all else that is on no tab.
 *
 * @typedef {{id: string, type: string, z?: string, name?: string, label?: string, [option: string]: unknown}} FlowNode
 */

export const SHARED = 'flows/shared.json'

/** What says which node it is comes first in a file, where it is drawn last. */
const FIRST = ['id', 'type', 'z', 'name', 'label']
const LAST = ['x', 'y', 'w', 'h', 'wires']

/** @param {FlowNode[]} nodes @returns {Map<string, FlowNode[]>} by the paths of files; tabs in their order */
export function partsOf (nodes) {
  /** @type {Map<string, FlowNode[]>} */
  const parts = new Map()
  /** @type {Map<string, FlowNode[]>} by the ids of tabs and subflows */
  const places = new Map()
  for (const node of nodes.filter(isPlace)) {
    const own = [node]
    places.set(node.id, own)
    parts.set(pathOf(node, parts), own)
  }
  const shared = nodes.filter(node => !isPlace(node) && !places.has(node.z ?? ''))
  for (const node of nodes) if (!isPlace(node)) places.get(node.z ?? '')?.push(node)
  if (shared.length > 0) parts.set(SHARED, shared)
  return parts
}

/** As it is in a file. @param {FlowNode[]} nodes */
export function textOf (nodes) {
  return `${JSON.stringify(nodes.map(inOrder), null, 2)}\n`
}

/** The same for flows that do the same and look the same, in whatever order their nodes are. @param {FlowNode[]} nodes */
export function hashOf (nodes) {
  const texts = nodes.map(canonical).sort()
  const tabs = nodes.filter(({ type }) => type === 'tab').map(({ id }) => id)
  return createHash('sha256').update(JSON.stringify([tabs, texts])).digest('hex')
}

/** The same for values that are the same, in whatever order their properties are. @param {unknown} value @returns {string} */
export function canonical (value) {
  return JSON.stringify(value, (_key, inner) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([one], [other]) => one < other ? -1 : 1))
  })
}

/** Where nodes are. @param {FlowNode} node */
export function isPlace ({ type }) {
  return type === 'tab' || type === 'subflow'
}

/** @param {FlowNode} node @param {Map<string, unknown>} taken */
function pathOf ({ id, type, label, name }, taken) {
  const stem = `${type === 'tab' ? 'flows' : 'subflows'}/${slugOf(label ?? name ?? '') || slugOf(id) || type}`
  for (let n = 0; ; n++) {
    const path = `${stem}${n > 0 ? `-${slugOf(id)}` : ''}${n > 1 ? `-${n}` : ''}.json`
    if (path !== SHARED && !taken.has(path)) return path
  }
}

/** Of letters that every file system and every variable may have. @param {string} text */
export function slugOf (text) {
  return text.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '').replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 60)
}

/** @param {FlowNode} node */
function inOrder (node) {
  const rank = (/** @type {string} */ key) => FIRST.includes(key) ? FIRST.indexOf(key) - 10 : LAST.indexOf(key) + 1
  const entries = Object.entries(node).filter(([key]) => key !== 'credentials')
  return Object.fromEntries(entries.sort(([one], [other]) => rank(one) - rank(other) || (one < other ? -1 : 1)))
}
