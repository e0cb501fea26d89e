/**
 * @typedef {import('../../stats/stats.js').Stats} Stats
 * @typedef {import('../../stats/reader.js').Gauge} Gauge
 * @typedef {import('./pulse.js').Percentiles} Percentiles
 * @typedef {{fill?: string, shape?: string, text?: string}} Status  as the node says of itself in the editor
 *
 * @typedef {object} SinkState
 * @property {number} rows  stored since the start
 * @property {number} values
 * @property {number|null} p50  ms, of what was stored since the last look; null where nothing was
 * @property {number|null} p99
 * @property {number|null} writeP50  ms, what the database took for a batch
 * @property {number|null} writeP99
 * @property {number} waitingRows  in memory
 * @property {boolean} isConnected
 * @property {boolean} wasReached  since the start
 * @property {number|null} retryingSinceMs  since 1970
 * @property {string} problem  in full, with its code; '' for none
 * @property {Status} status
 *
 * @typedef {object} Stage
 * @property {'out'|'in'|'sparkplug'} kind
 * @property {string} name
 * @property {string} [nodeId]
 *
 * @typedef {object} StageState
 * @property {boolean} isConnected  to its broker
 * @property {string} broker
 * @property {string} problem
 * @property {number|null} bytes  of its spool, on the disk
 * @property {number|null} maxBytes
 * @property {number|null} unstoredBytes
 * @property {string} blocked  why it accepts nothing; '' for not
 * @property {Status} status
 */

const STAGES = /** @type {const} */ ([['spool ', 'out'], ['stage in ', 'in'], ['sparkplug ', 'sparkplug']])

/** @param {Stats} stats @param {Record<string, Gauge>} gauges @returns {(Stage & {gauge: Gauge})[]} */
export function stagesOf (stats, gauges) {
  return Object.entries(gauges).flatMap(([key, gauge]) => STAGES.flatMap(([start, kind]) => {
    return key.startsWith(start) ? [{ kind, name: key.slice(start.length), nodeId: stats.nodeOf(key), gauge }] : []
  }))
}

/** @param {Gauge} gauge @param {Status} status @returns {StageState} */
export function stageState (gauge, status) {
  const number = (/** @type {string} */ key) => typeof gauge[key] === 'number' ? gauge[key] : null
  return {
    isConnected: gauge.connected !== false,
    broker: String(gauge.broker ?? ''),
    problem: String(gauge.problem ?? ''),
    bytes: number('onDiskBytes'),
    maxBytes: number('maxBytes'),
    unstoredBytes: number('unstoredBytes'),
    blocked: String(gauge.blocked ?? ''),
    status
  }
}

/**
 * @param {import('../../stats/meter.js').Meter} meter
 * @param {Gauge|undefined} gauge  none while it is being deployed
 * @param {{age: Percentiles, write: Percentiles}|undefined} times  since the last look
 * @param {Status} status
 * @returns {SinkState}
 */
export function sinkState (meter, gauge, times, status) {
  return {
    rows: meter.rows,
    values: meter.values,
    p50: times?.age?.p50 ?? null,
    p99: times?.age?.p99 ?? null,
    writeP50: times?.write?.p50 ?? null,
    writeP99: times?.write?.p99 ?? null,
    waitingRows: Number(gauge?.pendingRows ?? 0),
    isConnected: gauge?.connected === true,
    wasReached: gauge?.connected === true || meter.batches > 0,
    retryingSinceMs: typeof gauge?.retryingSinceMs === 'number' ? gauge.retryingSinceMs : null,
    problem: String(gauge?.problem || gauge?.lastError || ''),
    status
  }
}
