import { canonical } from './parts.js'

/**
 * What an apply would change.
 *
 * @typedef {import('./parts.js').FlowNode} FlowNode
 * @typedef {import('../base/credentials.js').Credentials} Credentials
 * @typedef {object} Changes
 * @property {FlowNode[]} added
 * @property {FlowNode[]} removed
 * @property {{before: FlowNode, after: FlowNode, options: string[]}[]} changed
 * @property {boolean} isReordered  the tabs
 * @property {{path: string, isNew: boolean}[]} files
 * @property {{id: string, option: string}[]} secrets
 * @property {boolean} isUnfinished  an apply was begun
 */

/**
 * @param {{nodes: FlowNode[], credentials: Credentials, fileAt: (path: string) => Buffer|null, isUnfinished: boolean}} current
 * @param {{nodes: FlowNode[], files: Map<string, Buffer>, values: Credentials}} wanted  `values`: of nodes for which secrets are given, all
 * @returns {Changes}
 */
export function changesOf (current, wanted) {
  const before = new Map(current.nodes.map(node => [node.id, node]))
  const after = new Set(wanted.nodes.map(({ id }) => id))
  const common = wanted.nodes.flatMap(node => {
    const former = before.get(node.id)
    return former ? [{ before: former, after: node, options: differing(former, node) }] : []
  })
  return {
    added: wanted.nodes.filter(({ id }) => !before.has(id)),
    removed: current.nodes.filter(({ id }) => !after.has(id)),
    changed: common.filter(({ options }) => options.length > 0),
    isReordered: String(tabsOf(current.nodes, after)) !== String(tabsOf(wanted.nodes, before)),
    files: Array.from(wanted.files, ([path, bytes]) => ({ path, bytes, former: current.fileAt(path) }))
      .filter(({ bytes, former }) => !former?.equals(bytes))
      .map(({ path, former }) => ({ path, isNew: former === null })),
    secrets: Object.entries(wanted.values).flatMap(([id, options]) => Object.entries(options)
      .filter(([option, value]) => canonical(current.credentials[id]?.[option]) !== canonical(value))
      .map(([option]) => ({ id, option }))),
    isUnfinished: current.isUnfinished
  }
}

/** @param {Changes} changes */
export function isNothing ({ added, removed, changed, isReordered, files, secrets, isUnfinished }) {
  return !isReordered && !isUnfinished && [added, removed, changed, files, secrets].every(({ length }) => length === 0)
}

/**
 * A line for each; with the values of options where they are asked for. Of secrets there is never one.
 * @param {Changes} changes
 * @param {{hasValues: boolean}} options
 */
export function linesOf ({ added, removed, changed, isReordered, files, secrets, isUnfinished }, { hasValues }) {
  const value = (/** @type {unknown} */ of) => of === undefined ? '(none)' : JSON.stringify(of)
  return [
    ...removed.map(node => `- ${nameOf(node)}`),
    ...added.map(node => `+ ${nameOf(node)}`),
    ...changed.flatMap(({ before, after, options }) => [
      `~ ${nameOf(after)}: ${options.join(', ')}`,
      ...(hasValues ? options : []).flatMap(option => {
        return [`    - ${option}: ${value(before[option])}`, `    + ${option}: ${value(after[option])}`]
      })
    ]),
    ...isReordered ? ['~ the order of the tabs'] : [],
    ...files.map(({ path, isNew }) => `${isNew ? '+' : '~'} file ${path}`),
    ...secrets.map(({ id, option }) => `~ secret ${option} of ${id}`),
    ...isUnfinished ? ['~ what an apply had begun'] : []
  ]
}

/** @param {FlowNode} node */
export function nameOf ({ id, type, name, label }) {
  const given = name || label
  return `${type}${given ? ` "${given}"` : ''} (${id})`
}

/** @param {FlowNode} one @param {FlowNode} other */
function differing (one, other) {
  const options = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...options].filter(option => option !== 'credentials' && canonical(one[option]) !== canonical(other[option]))
}

/** Of those that are in both. @param {FlowNode[]} nodes @param {{has: (id: string) => boolean}} others */
function tabsOf (nodes, others) {
  return nodes.filter(({ id, type }) => type === 'tab' && others.has(id)).map(({ id }) => id)
}
