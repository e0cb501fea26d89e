import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { recordsOf } from '../../broker/spool/reading.js'
import { counterOf } from '../batch/epochs.js'
import { RangeSet } from '../batch/ranges.js'

/**
 * What is on its way to a target, and would come beside its copy.
 *
 * @typedef {import('../databases/sink.js').CommitRecord} CommitRecord
 * @typedef {Map<string, RangeSet>} Staged  seqs by epoch
 */

/**
 * What the spools of a gateway hold of a source.
 * @param {string} userDir
 * @param {string} source
 * @returns {Promise<Staged>}
 */
export async function stagedIn (userDir, source) {
  const root = join(userDir, 'sluice', 'spool')
  const names = await readdir(root, { recursive: true }).catch(unlessGone([]))
  /** @type {Staged} */
  const staged = new Map()
  for (const name of names.filter(each => each.endsWith('.segment'))) {
    try {
      for await (const record of recordsOf(join(root, name))) {
        if (record.source !== source) continue
        const seqs = staged.get(record.epoch) ?? new RangeSet()
        seqs.add(record.seq)
        staged.set(record.epoch, seqs)
      }
    } catch (error) {
      unlessGone(null)(error) // released meanwhile: it is stored everywhere
    }
  }
  return staged
}

/**
 * Whether the target lacks older batches than it has: between them, or in front of them and still in a spool. Records that count no rows,
 * of what was staged again, are no sign of what is stored.
 * @param {CommitRecord[]} records  of one source
 * @param {Staged} staged
 */
export function isBehind (records, staged) {
  const epochs = Map.groupBy(records, ({ epoch }) => epoch)
  const counted = records.filter(({ staged: rows }) => rows > 0)
  const newest = Math.max(...counted.map(({ epoch }) => counterOf(epoch)))
  const lacksStaged = [...staged].some(([epoch, held]) => {
    const its = epochs.get(epoch) ?? []
    const end = its.findLast(({ staged: rows }) => rows > 0)?.last ?? (counterOf(epoch) < newest ? Infinity : -1)
    const stored = rangesOf(its)
    return held.ranges.some(([first, last]) => stored.missing(first, Math.min(last, end)).length > 0)
  })
  return lacksStaged || [...epochs.values()].some(its => {
    const own = its.filter(({ staged: rows }) => rows > 0)
    return own.length > 0 && rangesOf(its).missing(own[0].first, own[own.length - 1].last).length > 0
  })
}

/** @param {CommitRecord[]} records */
function rangesOf (records) {
  return new RangeSet(records.map(({ first, last }) => [first, last]))
}

/** @template T @param {T} instead @returns {(error: any) => T} */
function unlessGone (instead) {
  return error => {
    if (error.code !== 'ENOENT') throw error
    return instead
  }
}
