import { cut } from './cutting.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('./spool.js').Name} Name
 */

const MAX_ANCESTORS = 8

/**
 * Stages records again under new identities: what is too long for a broker in halves, and what has the identity of another's batch in a new
 * epoch. A single row cannot be halved and is left as it is.
 * @param {Name[]} names
 * @param {object} spool
 * @param {boolean} spool.inHalves
 * @param {((payload: Uint8Array) => Batch)|undefined} spool.decode
 * @param {(source: string, epoch: string) => import('./stream.js').Stream|undefined} spool.find
 * @param {(name: Name) => Promise<{payload: Uint8Array, hash: number}|null>} spool.read
 * @param {(batch: Batch, again: import('./intake.js').Again) => Promise<Identity[]>} spool.append
 */
export async function restage (names, { inHalves, decode, find, read, append }) {
  const staged = []
  /** @type {Set<import('./sources.js').Source>} */
  const begun = new Set()
  for (const { source, epoch, seq } of names) {
    const record = await read({ source, epoch, seq })
    const stream = find(source, epoch)
    const batch = record && stream && decode?.(record.payload)
    if (!batch || (inHalves && batch.rows < 2)) continue
    if (!inHalves && !begun.has(stream.source)) stream.source.stream = null
    begun.add(stream.source)
    const ancestors = [...batch.identity?.ancestors ?? [], { epoch, seq, hash: record.hash }].slice(-MAX_ANCESTORS)
    staged.push(append(batch, { stream, seq, parts: inHalves ? cut(batch, 2) : [batch], ancestors }))
  }
  return (await Promise.all(staged)).flat()
}
