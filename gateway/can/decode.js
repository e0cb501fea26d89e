import { framesOf } from './payload.js'
import { readOptions } from '../base/options.js'
import { dbcProperties, readMessages } from './dbc/options.js'
import { SignalSorter } from './rows/signal-rows.js'
import { nameProperty } from '../sources/source.js'
import { warnerOnce } from '../sources/warn-once.js'

/** @typedef {import('./payload.js').Refusal} Refusal */

export const schema = {
  type: 'object',
  title: 'CAN decode',
  description: 'Makes signals of frames from anywhere, by a DBC file.',
  properties: {
    name: nameProperty('can'),
    ...dbcProperties
  }
}

/**
 * Decodes frames from anywhere. Counters: `frames` taken, `rows` made of them, `refused` values that are not frames; others as in
 * SignalSorter.
 */
export class CanDecoder {
  counters = { frames: 0, rows: 0, refused: 0, unknownIds: 0, undecodable: 0, otherFrames: 0, errorFrames: 0 }
  #rows
  #nowNs

  /**
   * @param {object} options  as in the schema
   * @param {{log: import('../base/log.js').Log, nowNs: () => bigint}} context
   * @throws {import('../base/errors.js').SluiceError} SLUICE_OPTIONS, those of readDbcFile
   */
  constructor (options, { log, nowNs }) {
    const { name, choices, ...ofFile } = readOptions(schema, options)
    const messages = readMessages(ofFile, log)
    this.#rows = new SignalSorter({ name, messages, choices, counters: this.counters, warnOnce: warnerOnce(log) })
    this.#nowNs = nowNs
  }

  /** @returns {Record<string, number>} */
  gauge () {
    return { ...this.counters, ...this.#rows.transported }
  }

  /**
   * The batches of a payload, in which a frame without a time gets the time now; and what of it is not a frame.
   * @param {unknown} payload  as for `framesOf`
   * @returns {{batches: import('../batch/batch.js').Batch[], refused: Refusal[]}}
   */
  decode (payload) {
    const { frames, refused } = framesOf(payload)
    this.counters.frames += frames.length
    this.counters.refused += refused.length
    const batches = []
    const nowNs = this.#nowNs()
    for (const { frame, ns } of frames) {
      const rows = this.#rows.put(ns ?? nowNs, frame)
      if (rows?.isFull) batches.push(rows.take())
    }
    for (const rows of this.#rows.all()) if (rows.rows > 0) batches.push(rows.take())
    return { batches, refused }
  }
}
