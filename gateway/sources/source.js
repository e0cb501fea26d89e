/**
 * The contract of a source. A source is a module that exports `schema` and an opening function `(options, context) → Source`, which
 * throws at once where the options are wrong and then works on its own until it ends or is closed.
 *
 * @typedef {import('../batch/batch.js').Batch} Batch
 *
 * @typedef {object} SourceContext
 * @property {(batch: Batch, options?: {recorded?: boolean}) => void} emit  `recorded`: the times are not this clock's, and must not be
 *   corrected
 * @property {() => boolean} isPaused  true while what is downstream is full
 * @property {import('../base/log.js').Log} log
 * @property {(error?: unknown) => void} onEnd  called once: the source has sent all it had, or failed. Not called after close
 * @property {import('../clock/system-clock.js').Clock} [clock]  stamps the samples
 *
 * @typedef {object} Source
 * @property {Record<string, number>} counters  live
 * @property {() => string|undefined} [trouble]  what is wrong now, in a few words, for the status
 * @property {() => import('../stats/reader.js').Gauge} [gauge]  for the stats
 * @property {() => Promise<void>} close  when it resolves, nothing more is emitted
 */

/** The source's name in a schema. @param {string} example */
export function nameProperty (example) {
  return {
    type: 'string',
    title: 'Name',
    description: 'Names the source in topics, tables and plots, and the node in the flow. Of several without a name, each has a number.',
    default: example,
    maxLength: 100
  }
}
