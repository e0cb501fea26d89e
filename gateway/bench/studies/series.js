/**
 * @typedef {import('../../stats/monitor/usage.js').Sample} Sample
 * @typedef {NonNullable<import('./study.js').Measured['series']>} Series
 */

/** What a study draws over time, by the name of its series. @type {Record<string, (sample: Sample) => number|undefined>} */
const LEVELS = {
  serverRssBytes: ({ processes: { server } }) => server?.rssBytes,
  clientRssBytes: ({ processes: { client } }) => client?.rssBytes,
  dataBytes: ({ folders: { data } }) => data?.diskBytes,
  machineSwapBytes: ({ machine }) => machine?.swapBytes,
  machineAvailableBytes: ({ machine }) => machine?.availableBytes
}

/**
 * Of counters, and what one of them a second is in the unit of the name.
 * @type {Record<string, [scale: number, valueOf: (sample: Sample) => number|undefined]>}
 */
const RATES = {
  serverCpuPercent: [100, ({ processes: { server } }) => server?.cpuSeconds],
  serverReadBytesPerSecond: [1, ({ processes: { server } }) => server?.readBytes],
  serverWrittenBytesPerSecond: [1, ({ processes: { server } }) => server?.writtenBytes],
  serverReceivedBytesPerSecond: [1, ({ processes: { server } }) => server?.receivedBytes],
  serverSentBytesPerSecond: [1, ({ processes: { server } }) => server?.sentBytes],
  clientCpuPercent: [100, ({ processes: { client } }) => client?.cpuSeconds],
  machineUserPercent: [100, ({ machine }) => machine?.userSeconds],
  machineSystemPercent: [100, ({ machine }) => machine?.systemSeconds],
  machineIowaitPercent: [100, ({ machine }) => machine?.iowaitSeconds],
  machineContextSwitchesPerSecond: [1, ({ machine }) => machine?.contextSwitches],
  machineReadBytesPerSecond: [1, ({ machine }) => machine?.readBytes],
  machineWrittenBytesPerSecond: [1, ({ machine }) => machine?.writtenBytes],
  machineDiskOperationsPerSecond: [1, ({ machine }) => machine && Number(machine.readOperations) + Number(machine.writeOperations)],
  machineReceivedBytesPerSecond: [1, ({ machine }) => machine?.receivedBytes],
  machineSentBytesPerSecond: [1, ({ machine }) => machine?.sentBytes]
}

/**
 * Levels at each sample, and rates from one to the next, in seconds since the first. What was never read has no series.
 * @param {Sample[]} samples
 * @returns {Series}
 */
export function seriesOf (samples) {
  const begun = samples[0]?.elapsedSeconds
  /** @param {(sample: Sample) => number|undefined} valueOf */
  const pointsOf = valueOf => samples.flatMap(sample => {
    const value = valueOf(sample)
    return value === undefined || Number.isNaN(value) ? [] : [{ second: sample.elapsedSeconds - begun, value }]
  })
  const all = [
    ...Object.entries(LEVELS).map(([name, valueOf]) => ({ name, points: pointsOf(valueOf) })),
    ...Object.entries(RATES).map(([name, [scale, valueOf]]) => ({ name, points: ratesOf(pointsOf(valueOf), scale) }))
  ]
  return Object.fromEntries(all.filter(({ points }) => points.length > 0).map(({ name, points }) => {
    return [name, { seconds: points.map(({ second }) => second), values: points.map(({ value }) => value) }]
  }))
}

/**
 * A counter that falls has begun again: what it had counted since is not known.
 * @param {{second: number, value: number}[]} points @param {number} scale
 */
function ratesOf (points, scale) {
  return points.slice(1).flatMap(({ second, value }, i) => {
    const [passed, counted] = [second - points[i].second, value - points[i].value]
    return passed > 0 && counted >= 0 ? [{ second, value: counted / passed * scale }] : []
  })
}
