import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { PREAMBLE_BYTES } from '../../broker/spool/record.js'
import { sinkTypes } from '../databases/index.js'
import { measure } from '../stats/format.js'
import { nameOf } from './changes.js'

/** @typedef {import('./parts.js').FlowNode} FlowNode */

const SINKS = new Set(Object.keys(sinkTypes).map(type => `sluice-${type}`))

/**
 * What somebody may regret.
 * @param {FlowNode[]} removed
 * @param {string[]} elsewhere  files that the flow names
 * @param {string} userDir
 */
export async function warningsOf (removed, elsewhere, userDir) {
  const spools = join(userDir, 'sluice', 'spool')
  const names = removed.length > 0 ? await readdir(spools).catch(() => []) : [] // nothing has been staged yet
  const held = new Map(await Promise.all(names.map(async name => /** @type {const} */ ([name, await bytesIn(join(spools, name))]))))
  const all = [...held.values()].reduce((sum, bytes) => sum + bytes, 0)
  return [
    ...removed.filter(({ type }) => SINKS.has(type) && all > 0).map(node => {
      return `${nameOf(node)} is removed. What of the ${measure(all, 'B')} in the spools it has not stored, it does not get any more.`
    }),
    ...removed.filter(({ id }) => (held.get(id) ?? 0) > 0).map(node => {
      return `${nameOf(node)} is removed. Its spool stays, ${measure(held.get(node.id) ?? 0, 'B')} in ${join(spools, node.id)}: ` +
        'it is sent once a node of that id is there again.'
    }),
    ...elsewhere.filter(path => !existsSync(resolve(userDir, path))).map(path => `The flow names the file ${path}, which is not here.`)
  ]
}

/** Of segments that have more than their beginning. @param {string} spool */
async function bytesIn (spool) {
  let bytes = 0
  for (const name of await readdir(spool).catch(() => [])) { // beside the spools are files
    if (!name.endsWith('.segment')) continue
    const { size } = await stat(join(spool, name)).catch(() => ({ size: 0 })) // it is stored by now
    if (size > PREAMBLE_BYTES) bytes += size
  }
  return bytes
}
