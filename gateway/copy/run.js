import { join, resolve } from 'node:path'
import { SluiceError } from '../base/errors.js'
import { makePrivateFolder } from '../base/files.js'
import { lock } from '../base/lock.js'
import { deadLettersFolder, openDeadLetterQueue } from '../dead-letters/queue.js'
import { createWriter } from '../writer/writer.js'
import { copySource } from './copy.js'
import { OpenPlace, sourcesOf } from './places.js'
import { stagedIn } from './staged.js'

/**
 * Copies all sources, or one, from a place to another.
 *
 * @typedef {import('./copy.js').Copied} Copied
 * @typedef {import('./copy.js').Wish} Wish
 * @typedef {import('./places.js').Place} Place
 */

/** What can be read row by row, and of which layouts. */
const READABLE = ['sqlite', 'duckdb', 'postgresql', 'mysql', 'clickhouse']
const READABLE_LAYOUTS = ['wide', 'narrow']

/** Layouts whose rows are told apart by what a copy does not have, or not at all. */
const UNWRITABLE_LAYOUTS = ['upsert', 'timeseries', 'paper-individual', 'paper-bulk']

/** Windows come as fast as they are read: who waits for more of them only waits. */
const GATHER_MS = 5

/**
 * @param {object} task
 * @param {Place} task.from
 * @param {Place} task.to
 * @param {string} [task.source]  all of those of a sink unless given
 * @param {string} task.userDir  of the gateway: where spools are, and rows are kept that the target refuses
 * @param {Wish} task.wish
 * @param {(source: string) => Pick<Wish, 'progress'>} task.observe  called with each source before it is copied
 * @param {import('../base/log.js').Log} task.log
 * @returns {AsyncGenerator<{source: string} & Copied>}
 */
export async function * copyAll ({ from, to, source, userDir, wish, observe, log }) {
  checkPlaces(from, to)
  const unlock = await onlyCopy(userDir)
  const [opened, target] = [new OpenPlace(from, log), new OpenPlace(to, log)]
  try {
    const { store, sources } = await sourcesOf(opened, source)
    const { sink, isTransient } = await target.sink()
    const { store: ownStore } = await sink.committed()
    const deadLetters = await openDeadLetterQueue(deadLettersFolder(userDir, `copy to ${to.name}`), { log })
    const writer = createWriter({ sink, isTransient, deadLetters, log, options: { maxAgeMs: GATHER_MS } })
    try {
      for (const each of sources) {
        const table = opened.tableOf(each)
        if (store === ownStore && table === target.tableOf(each)) throw sameTable(table)
        const { layout } = from.options
        const reader = /** @type {import('./copy.js').From['reader']} */ (await opened.reader(each))
        const copied = await copySource(
          { type: from.type, store, table, layout, reader },
          {
            type: to.type,
            layout: to.options.layout,
            sink,
            reader: await target.reader(each),
            write: batch => written(writer, batch),
            staged: () => stagedIn(userDir, each)
          },
          each,
          { ...wish, ...observe(each) }
        )
        yield { source: each, ...copied }
      }
    } finally {
      await writer.close({ deadlineMs: 0 })
    }
  } finally {
    await opened.close()
    await target.close()
    unlock()
  }
}

/**
 * Two that begin together do not know of each other: they may divide the same time differently, and not every database refuses a batch
 * that another process is just storing.
 * @param {string} userDir
 * @returns {Promise<() => void>}
 * @throws {SluiceError} SLUICE_COPY_BUSY
 */
async function onlyCopy (userDir) {
  const folder = resolve(userDir, 'sluice')
  await makePrivateFolder(folder)
  return lock(join(folder, 'copy.lock'), join(folder, 'copy.pid'), (pid, cause) => {
    return new SluiceError('SLUICE_COPY_BUSY', `Another sluice copy, process ${pid}, runs with the folder ${userDir}.`, {
      fix: 'Wait until it has ended.', cause
    })
  })
}

/** @param {import('../writer/writer.js').Writer} writer @param {import('../batch/batch.js').Batch} batch */
async function written (writer, batch) {
  for (;;) {
    try {
      const result = await writer.write(batch)
      if (result.outcome !== 'clash') return result
      throw new SluiceError('SLUICE_COPY_RANGE', `"${batch.source}": the target has another batch in the place of this one.`)
    } catch (error) {
      if (/** @type {any} */ (error).code !== 'SLUICE_WRITER_FULL') throw error
      await writer.room
    }
  }
}

/** @param {Place} from @param {Place} to @throws {SluiceError} SLUICE_COPY_PLACE */
function checkPlaces (from, to) {
  const { layout = 'wide' } = from.options
  if (!READABLE.includes(from.type) || !READABLE_LAYOUTS.includes(layout)) {
    throw new SluiceError('SLUICE_COPY_PLACE', `"${from.name}" (${from.type}, layout ${layout}) cannot be copied from.`, {
      fix: `What can: ${READABLE.join(', ')}, of the layouts ${READABLE_LAYOUTS.join(' and ')}.`
    })
  }
  if (!UNWRITABLE_LAYOUTS.includes(to.options.layout) && to.type !== 'null') return
  throw new SluiceError('SLUICE_COPY_PLACE', `"${to.name}" (${to.type}, layout ${to.options.layout}) cannot be copied to.`, {
    fix: 'What can: any other database, of the layouts wide, narrow and document.'
  })
}

/** @param {string} table */
function sameTable (table) {
  return new SluiceError('SLUICE_COPY_PLACE', `Both sinks store in the table "${table}".`, { fix: 'Give them tables of their own.' })
}
