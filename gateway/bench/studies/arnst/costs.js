/**
 * What a variant costs, by the measures of a cell, and in the units of the paper.
 *
 * @typedef {import('./score.js').Costs} Costs
 * @typedef {import('../../../stats/monitor/summary.js').Summary} Summary
 */

/** As ps, pidstat and du count them. */
const KIB = 1024
/** How long the paper's data folder grows. */
const PAPER_SECONDS = 20 * 60

/** Of what was watched; what cannot be read is absent. @param {Summary} usage @returns {Record<string, number>} */
export function costsOf ({ processes: { server = {}, client = {} } }) {
  const mean = (/** @type {string} */ name, of = server) => of[name]?.mean ?? NaN
  // Of several processes, what they share would count for each.
  const memory = server.processes?.max > 1 && server.pssBytes ? 'pssBytes' : 'rssBytes'
  const found = {
    serverCpuPercent: mean('cpuPercent'),
    serverMemoryBytes: mean(memory),
    serverIoBytesPerSecond: mean('readBytesPerSecond') + mean('writtenBytesPerSecond'),
    clientCpuPercent: mean('cpuPercent', client),
    clientMemoryBytes: mean('rssBytes', client),
    networkBitsPerSecond: (mean('receivedBytesPerSecond', client) + mean('sentBytesPerSecond', client)) * 8
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => !Number.isNaN(value)))
}

/**
 * In the units of the paper's tables.
 * @param {Record<string, number>} measures @param {number} [difficulty]  the paper's
 * @returns {Costs}
 */
export function inPaperUnits (measures, difficulty) {
  const scaled = (/** @type {string} */ name, /** @type {number} */ unit) => {
    return measures[name] === undefined ? undefined : measures[name] / unit
  }
  return {
    serverCpu: scaled('serverCpuPercent', 1),
    serverMemory: scaled('serverMemoryBytes', 1000 * KIB),
    serverIo: scaled('serverIoBytesPerSecond', KIB),
    clientCpu: scaled('clientCpuPercent', 1),
    clientMemory: scaled('clientMemoryBytes', 1000 * KIB),
    network: scaled('networkBitsPerSecond', 1000),
    disk: scaled('dataBytesPerSecond', KIB * KIB / PAPER_SECONDS),
    difficulty
  }
}
