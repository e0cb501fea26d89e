import { quantity } from '../stats/format.js'

/**
 * What can be measured.
 *
 * @typedef {[what: string, value: string, goal: string, isMet: boolean|null][]} Table
 * @typedef {import('./servers.js').Servers} Servers
 * @typedef {{only: string[], rows: number, quick: boolean, progress: (text: string) => void, servers: Servers}} SectionOptions
 *
 * @typedef {object} Section
 * @property {boolean} [isLong]  it is measured only where it is named
 * @property {(servers: Servers) => string|null} needs  what is missing for it
 * @property {(options: SectionOptions) => Promise<any>} run
 * @property {(result: any) => Table|Promise<Table>} table
 */

const nothing = () => null

/** @param {Servers} servers */
const brokerAndPostgresql = servers => servers('mqtt').missing() ?? servers('postgresql').missing()

/** @type {Record<string, Section>} */
export const SECTIONS = {
  postgresql: {
    needs: servers => servers('postgresql').missing(),
    run: async ({ servers }) => (await import('./postgresql.js')).benchPostgresql(servers),
    table: ({ rows, batchRows, ours, psql, ratio }) => [
      [`PostgreSQL sink, ${quantity(rows)} narrow rows, ${quantity(batchRows)} a batch, indexed`, `${quantity(ours)} rows/s`, '', null],
      ['psql \\copy binary, the same rows', `${quantity(psql)} rows/s`, '', null],
      ['ratio', ratio.toFixed(2), '≥ 0.9', ratio >= 0.9]
    ]
  },
  sqlite: {
    needs: nothing,
    run: async () => (await import('./sqlite.js')).benchSqlite(),
    table: ({ rows, batchRows, ours, perRow, multiRow, ratio }) => [
      [`SQLite sink, ${quantity(rows)} narrow rows, ${quantity(batchRows)} a batch, indexed`, `${quantity(ours)} rows/s`, '', null],
      ['plain loop, a row a statement, one transaction', `${quantity(perRow)} rows/s`, '', null],
      ['plain loop, 100 rows a statement, a transaction a batch', `${quantity(multiRow)} rows/s`, '', null],
      ['ratio to the better loop', ratio.toFixed(2), '≥ 0.9', ratio >= 0.9]
    ]
  },
  pipeline: {
    needs: brokerAndPostgresql,
    async run ({ servers }) {
      const { benchPipeline } = await import('./pipeline.js')
      const paced = await benchPipeline(servers, { rowsPerSecond: 240_000 })
      return { paced, fullSpeed: await benchPipeline(servers, { rows: 4_000_000 }) }
    },
    table ({ paced, fullSpeed }) {
      const path = 'simulator → Mosquitto → PostgreSQL, wide, 5 values a row, 1000 rows a message'
      const same = `the same at ${quantity(paced.valuesPerSecond)} values/s`
      const { valuesPerSecond, memoryAboveIdleMegabytes: atFullSpeed } = fullSpeed
      const atItsPace = paced.memoryAboveIdleMegabytes
      return [
        [path, `${quantity(valuesPerSecond)} values/s`, '≥ 1 M', valuesPerSecond >= 1e6],
        ['consuming gateway at full speed: processor time', ...processorTime(fullSpeed)],
        ['consuming gateway at full speed: memory above idle, at most', `${atFullSpeed.toFixed(0)} MB`, '', null],
        [`${same}: processor time`, ...processorTime(paced)],
        [`${same}: memory above idle, at most`, `${atItsPace.toFixed(0)} MB`, '≤ 60', atItsPace <= 60]
      ]
    }
  },
  load: {
    needs: brokerAndPostgresql,
    run: async ({ servers }) => (await import('./pipeline.js')).benchPaperLoad(servers),
    table: ({ percentOfCoreAboveIdle, memoryMegabytes: { idle, start, end }, seconds }) => [
      [
        '5 × 1000 values/s, simulated, staged and stored in one gateway: above idle',
        `${percentOfCoreAboveIdle.toFixed(2)} % of a core`, '< 1.5', percentOfCoreAboveIdle < 1.5
      ],
      [
        `its memory: idle, at the start and the end of ${seconds} s`,
        `${idle.toFixed(0)}, ${start.toFixed(0)}, ${end.toFixed(0)} MB`, 'flat', null
      ]
    ]
  },
  idle: {
    needs: nothing,
    run: async ({ quick, progress }) => {
      return (await import('./idle.js')).benchIdle({ progress, ...quick && { rounds: 1, seconds: 10, warmUpSeconds: 10 } })
    },
    table: ({ percentOfCore, percentOfCoreAboveIdle: { idle, load, quiet }, loadLatencyMs: { p50, p99 }, quietSources }) => [
      ['Node-RED, idle', `${percentOfCore.nodeRed.toFixed(2)} % of a core`, '', null],
      ['broker, stage out, stage in, SQLite, and nothing that sends: above it', ...shareOfCore(idle, 0.2)],
      ['5 × 1000 values/s, simulated, through them: above it', ...shareOfCore(load, 1)],
      ['its samples, when committed: p50, p99', `${p50.toFixed(0)}, ${p99.toFixed(0)} ms`, 'p99 ≤ 500 ms', p99 <= 500],
      [`${quietSources} sources that have sent once: above it`, ...shareOfCore(quiet, 0.2)]
    ]
  },
  monitor: {
    needs: servers => servers('postgresql').missing() ?? (process.platform === 'linux' ? null : 'this is not Linux'),
    run: async ({ servers, quick, progress }) => {
      return (await import('./monitor.js')).benchMonitor(servers, { progress, ...quick && { rounds: 3, seconds: 5 } })
    },
    table: ({ valuesPerSecond, processes, percentOfCore, percentOfCoreOfMonitor }) => [
      [`PostgreSQL sink at ${quantity(valuesPerSecond)} values/s`, `${percentOfCore.without.toFixed(2)} % of a core`, '', null],
      [
        `the same, with a monitor of the ${processes} processes of the server, this one, the machine and a folder, once a second`,
        `${percentOfCore.with.toFixed(2)} % of a core`, '', null
      ],
      [
        'the monitor: median of the differences', `${percentOfCoreOfMonitor.toFixed(2)} % of a core`, '< 1',
        percentOfCoreOfMonitor < 1
      ]
    ]
  },
  'kafka-in': {
    needs: servers => servers('kafka').missing() ?? servers('postgresql').missing(),
    run: async options => (await import('./kafka-in.js')).benchKafkaIn(options.servers, options),
    table: async result => (await import('./kafka-in.js')).kafkaInTable(result)
  },
  outage: {
    needs: servers => brokerAndPostgresql(servers) ?? servers('postgresql').cannotStop ?? null,
    run: async ({ servers }) => (await import('./outage.js')).benchOutage(servers),
    table: ({ seconds, valuesPerSecond, produced, rows, distinct, catchUpSeconds, memoryMegabytes: { start, most, catchingUp } }) => [
      [
        `PostgreSQL away for ${seconds} s, ${quantity(valuesPerSecond)} values/s: memory of the gateway at the start, at most`,
        `${start.toFixed(0)}, ${most.toFixed(0)} MB`, '< 250', most < 250
      ],
      ['while it catches up, at most', `${catchingUp.toFixed(0)} MB`, '< 250', catchingUp < 250],
      [
        `rows produced, stored and different ones, ${catchUpSeconds.toFixed(0)} s after it is back`,
        `${produced}, ${rows}, ${distinct}`, 'equal', produced === rows && rows === distinct
      ]
    ]
  },
  scale: scaleOf('mqtt', {}),
  'scale-kafka': scaleOf('kafka', { gateways: 1000, devices: 20, members: 3 }),
  telegraf: {
    isLong: true,
    needs: servers => brokerAndPostgresql(servers) ?? (servers('mqtt').cannotStop ? 'it needs brokers of its own (npm run bench)' : null),
    run: async options => (await import('./telegraf/index.js')).benchTelegraf(options),
    table: async result => (await import('./telegraf/table.js')).telegrafTable(result)
  },
  flow: {
    needs: nothing,
    run: async ({ servers, quick, progress }) => (await import('./flow.js')).benchFlow(servers, { progress, ...quick && { seconds: 10 } }),
    table: async result => (await import('./flow.js')).flowTable(result)
  },
  sinks: {
    needs: nothing,
    run: async options => (await import('./sinks/index.js')).benchSinks(options),
    table: async result => (await import('./sinks/index.js')).sinksTable(result)
  },
  sources: {
    needs: nothing,
    run: async options => (await import('./sources/index.js')).benchSources(options),
    table: async result => (await import('./sources/index.js')).sourcesTable(result)
  }
}

/**
 * @param {'mqtt'|'kafka'} via
 * @param {{gateways?: number, devices?: number, members?: number}} size
 * @returns {Section}
 */
function scaleOf (via, size) {
  return {
    isLong: true,
    needs: servers => servers(via).missing() ?? servers('postgresql').missing(),
    run: async ({ servers, quick, progress }) => {
      return (await import('./scale.js')).benchScale(servers, { via, progress, ...size, ...quick && { seconds: 30 } })
    },
    table: scaleTable
  }
}

/** @param {import('./scale.js').Scale} measured @returns {Table} */
function scaleTable ({ via, gateways, devices, members, seconds, produced, rows, distinct, lagSeconds, settledSeconds, ...measured }) {
  const { connections, consumers } = measured
  const what = `${gateways} gateways × ${devices} devices, a row a second each, ${seconds} s, over ${via}, ${members} members`
  /** @param {(consumer: typeof consumers[number]) => string} show */
  const each = show => consumers.map(show).join(', ')
  return [
    [`${what}: produced, stored, different`, `${produced}, ${rows}, ${distinct}`, 'equal', produced === rows && rows === distinct],
    ['rows behind, at most', `${lagSeconds.toFixed(1)} s`, '', null],
    ['all stored after', `${settledSeconds.toFixed(1)} s`, '', null],
    ['each member: share of a core', each(({ cpuShare }) => `${(cpuShare * 100).toFixed(1)} %`), '', null],
    ['each member: memory, at most', each(({ memoryMegabytes }) => `${memoryMegabytes.toFixed(0)} MB`), '', null],
    ['connections to the database, at most', String(connections), '', null]
  ]
}

/** @param {{cpuMicrosecondsPerValue: number}} measured @returns {[string, string, boolean]} */
function processorTime ({ cpuMicrosecondsPerValue }) {
  return [`${cpuMicrosecondsPerValue.toFixed(3)} µs/value`, '≤ 0.2', cpuMicrosecondsPerValue <= 0.2]
}

/** @param {number} percent @param {number} goal @returns {[string, string, boolean]} */
function shareOfCore (percent, goal) {
  return [`${percent.toFixed(2)} % of a core`, `≤ ${goal.toFixed(1)} %`, percent <= goal]
}
