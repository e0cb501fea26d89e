/**
 * What is kept of whom: one entry a measure, in the order of the columns of a file. `over` says what becomes of many values in time:
 * the mean of rates, the sum of counts, the worst of everything else, so that no peak is lost in a long window.
 *
 * @typedef {'source'|'stage'|'sink'|'spool'|'process'|'machine'} SubjectType
 * @typedef {'mean'|'sum'|'max'|'min'} Over
 * @typedef {{name: string, unit: string, over: Over, help: string, read: (reading: any) => unknown}} Measure  what is no number is absent
 *
 * @typedef {import('../stats/meter.js').Counter} Counter
 * @typedef {object} MeterReading
 * @property {Record<Counter, number>} since  counted since the reading before
 * @property {number} seconds  of the steps since then: what is counted is what they are together
 * @property {import('./percentiles.js').Percentiles|null} ages  of the rows that passed, in microseconds
 * @property {import('./percentiles.js').Percentiles|null} writes  of a sink's batches
 * @property {import('../stats/reader.js').Gauge|undefined} gauge
 */

/** @param {Counter} counter @param {string} unit @param {string} help @returns {Measure} */
function rate (counter, unit, help) {
  const read = (/** @type {MeterReading} */ { since, seconds }) => since[counter] / seconds
  return { name: counter, unit: `${unit}/s`, over: 'mean', help, read }
}

/** @param {Counter} counter @param {string} unit @param {string} help @returns {Measure} */
function count (counter, unit, help) {
  return { name: counter, unit, over: 'sum', help, read: (/** @type {MeterReading} */ { since }) => since[counter] }
}

/** @param {string} name @param {'ages'|'writes'} of @param {string} what @returns {Measure[]} */
function times (name, of, what) {
  return /** @type {const} */ (['p50', 'p99']).map(share => ({
    name: `${name}${share.toUpperCase()}`,
    unit: 'ms',
    over: 'max',
    help: `${what}: ${share === 'p50' ? 'half took' : '99 % took'} at most that.`,
    read: (/** @type {MeterReading} */ reading) => reading[of] && reading[of][share] / 1000
  }))
}

/**
 * @param {string} name
 * @param {string} unit
 * @param {Over} over
 * @param {string} help
 * @param {(reading: any) => unknown} read
 * @returns {Measure}
 */
function state (name, unit, over, help, read) { return { name, unit, over, help, read } }

const LATENCY = 'Age of the rows when they passed here, from the time of the sample'

/** @type {Record<SubjectType, readonly Measure[]>} */
export const MEASURES = {
  source: [
    rate('rows', 'rows', 'Rows sent into the flow.'),
    rate('values', 'values', 'Values in those rows.'),
    ...times('latency', 'ages', LATENCY),
    count('missed', 'rows', 'Samples that could not be read in time.'),
    count('late', 'rows', 'Samples that were read late.'),
    count('dropped', 'rows', 'Rows given up by choice.'),
    count('errors', 'errors', 'What could not be read or decoded.')
  ],
  stage: [
    rate('rows', 'rows', 'Rows accepted into a spool.'),
    rate('values', 'values', 'Values in those rows.'),
    ...times('latency', 'ages', LATENCY),
    count('dropped', 'rows', 'Rows that no spool accepted, or that a full one gave up.'),
    count('lost', 'rows', 'Rows that a spool lost before all sinks had stored them.'),
    count('errors', 'errors', 'Messages, or values in them, that are not rows.'),
    count('overdue', 'deliveries', 'Deliveries that a flow did not settle in time.'),
    count('parked', 'deliveries', 'Deliveries that wait for the next deploy.')
  ],
  sink: [
    rate('rows', 'rows', 'Rows stored.'),
    rate('values', 'values', 'Values in those rows.'),
    rate('bytes', 'B', 'Bytes stored, where the database says.'),
    ...times('latency', 'ages', LATENCY),
    ...times('write', 'writes', 'What the database took for a batch'),
    count('retries', 'writes', 'Writes that were tried again.'),
    count('errors', 'errors', 'Writes that the database refused for what is in them.'),
    count('duplicates', 'rows', 'Rows that came again and were refused, as they were stored already.'),
    count('deadLetters', 'rows', 'Rows that the database refused for good.'),
    count('lost', 'rows', 'Rows that could neither be stored nor kept.'),
    count('expired', 'rows', 'Stored rows that were removed, as none so old are kept.'),
    state('waitingRows', 'rows', 'max', 'Rows that wait in memory to be written.', ({ gauge }) => gauge?.pendingRows),
    state('connected', '', 'min', '1 while the database is reached, 0 while it is not.', ({ gauge }) => gauge && Number(gauge.connected))
  ],
  spool: [
    state('bytes', 'B', 'max', 'What the spool takes on the disk.', ({ onDiskBytes }) => onDiskBytes),
    state('unstoredBytes', 'B', 'max', 'What of it some sink has not stored.', ({ unstoredBytes }) => unstoredBytes),
    state('waitingBatches', 'batches', 'max', 'Batches that wait in memory to be written down.', ({ waiting }) => waiting),
    state('connected', '', 'min', '1 while the broker is reached, 0 while it is not.', ({ connected }) => Number(connected))
  ],
  process: [
    state('cpu', '%', 'mean', 'Processor time of the gateway, of one core.', ({ cpuPercent }) => cpuPercent),
    state('memory', 'B', 'max', 'Memory of the gateway.', ({ rssBytes }) => rssBytes),
    state('loopDelay', 'ms', 'max', 'How long the event loop kept others waiting at most, by a look every 250 ms.',
      ({ loopDelayMs }) => loopDelayMs)
  ],
  machine: [
    state('temperature', '°C', 'max', 'Of the processor.', ({ temperatureCelsius }) => temperatureCelsius),
    state('diskFree', 'B', 'min', 'Free on the disk of the data folder.', ({ disk }) => disk?.freeBytes),
    state('written', 'B', 'max', 'What all programs write to that disk a day.', ({ written }) => written?.bytesPerDay)
  ]
}

/**
 * What can be said of each step of a pause once it is over: the means of all of it. Counts and states are of its last step.
 * @param {import('./readings.js').Reading} reading
 */
export function meansOf (reading) {
  const measures = MEASURES[reading.subject.type]
  return { ...reading, values: reading.values.map((value, i) => measures[i].over === 'mean' ? value : null) }
}

/** What many of a kind are together. @param {Measure} measure @returns {Over} */
export function together ({ unit, over }) {
  return over === 'mean' || over === 'max' && unit !== 'ms' ? 'sum' : over
}
