import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../run/settings.js'
import { readFiles, readManifest, readNodes, readSecrets, wrong } from './bundle.js'
import { isPlace } from './parts.js'
import { areVariables } from './secrets.js'

/** @typedef {import('./parts.js').FlowNode} FlowNode */

/**
 * All of a bundle, once it is known that a gateway can take it.
 * @param {string} folder
 * @returns {Promise<import('./bundle.js').Bundle>}
 * @throws {import('../base/errors.js').SluiceError} SLUICE_APPLY_INPUT
 */
export async function readBundle (folder) {
  const { flows, files, elsewhere } = await readManifest(folder)
  const nodes = await readNodes(folder, flows)
  checkNodes(nodes)
  const secrets = await readSecrets(folder)
  const ids = new Set(nodes.map(({ id }) => id))
  for (const [id, options] of Object.entries(secrets)) {
    if (!ids.has(id)) throw wrong('secrets.json', `is for a node ${id}, which no flow has`)
    if (!areVariables(options)) throw wrong('secrets.json', `has no name of a variable for the node ${id}`)
  }
  return { nodes, secrets, files: await readFiles(folder, files), elsewhere }
}

/** @param {FlowNode[]} nodes */
function checkNodes (nodes) {
  const places = new Set(nodes.filter(isPlace).map(({ id }) => id))
  const own = ownTypes()
  const seen = new Set()
  for (const { id, type, z } of nodes) {
    if (seen.has(id)) throw wrong('The flow', `has two nodes ${id}`)
    seen.add(id)
    if (z && !places.has(z)) throw wrong('The flow', `has the node ${id} on a tab ${z} that it lacks`)
    const [, subflow] = /^subflow:(.*)$/.exec(type) ?? []
    if (subflow !== undefined && !places.has(subflow)) throw wrong('The flow', `has the node ${id} of a subflow ${subflow} that it lacks`)
    if (type.startsWith('sluice-') && !own.has(type)) throw wrong('The flow', `has a node of type ${type}, which this version lacks`)
  }
}

/** The types of Sluice's nodes, as Node-RED calls them. */
function ownTypes () {
  const { 'node-red': { nodes } } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'))
  return new Set(Object.keys(nodes).map(name => `sluice-${name}`))
}
