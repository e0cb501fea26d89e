import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** What a stage in keeps beside its spool's folder. */
const BESIDE = /^(.+)\.(?:filters|receipts)$/

/**
 * Removes what belongs to spools that are given up: whose node no flow has any more, not even disabled, and whose folder somebody has
 * deleted. While that is there, the node may come back, and needs what the broker still has for it.
 * @param {string} folder  of all spools
 * @param {Set<string>} nodes  the ids of all stage ins, disabled ones too
 */
export async function removeLeftovers (folder, nodes) {
  /** @type {string[]} */
  const names = await readdir(folder).catch(() => []) // none has been opened yet
  for (const name of names) {
    const [, id] = BESIDE.exec(name) ?? []
    if (id !== undefined && !names.includes(id) && !nodes.has(id)) await rm(join(folder, name), { force: true })
  }
}
