import { emptyBalance } from '../../gateway/stats/balance.js'
import { batchOf, Rig as SpoolRig } from '../broker/spool-rig.js'
import { MIB, Rig, sends } from './rig.js'

/** What judging costs: `node test/alarms/cost.js`, of 200 sources that are staged and stored in 10 sinks, every five seconds. */
const SOURCES = 200
const SINKS = 10
const JUDGEMENTS = 720
const PERIOD_MS = 5000

/** @param {string} what @param {boolean} isAway  all databases */
function measure (what, isAway) {
  const rig = new Rig()
  const meters = Array.from({ length: SOURCES }, (_, i) => ['source', 'stage'].map(stage => {
    const meter = rig.stats.meter(/** @type {'source'|'stage'} */ (stage), `source ${i}`)
    meter.running.add(`node ${i}`)
    return meter
  })).flat()
  for (let i = 0; i < SINKS; i++) {
    const lastError = isAway ? 'SLUICE_SINK_CONNECT: No.' : null
    rig.gauge(`sink ${i}`, { connected: !isAway, lastError, pendingRows: 10, keptDeadLetters: 0 })
    rig.gauge(`spool ${i}`, { connected: true, broker: 'b', onDiskBytes: i * MIB, maxBytes: 100 * MIB, lostRows: 0 })
    rig.gauge(`stage in ${i}`, { connected: true, broker: 'b', lostRows: 0, parkedRows: 0 })
  }
  const lines = Array.from({ length: SOURCES * SINKS }, (_, i) => {
    return { ...emptyBalance(), id: `id of sink ${i % SINKS}`, sink: String(i % SINKS), gateway: 'g', source: `source ${i / SINKS | 0}` }
  })
  rig.stats.balances(() => lines)
  rig.stats.spooled('id of spool 0', () => sinks.flatMap((sink, i) => {
    return spool.balances(sink).map(balance => ({ id: `id of sink ${i}`, sink: String(i), gateway: 'g', ...balance }))
  }))
  rig.pass(600, () => meters.forEach(sends))
  const { user, system } = process.cpuUsage()
  rig.pass(JUDGEMENTS * PERIOD_MS / 1000, () => meters.forEach(sends))
  const used = process.cpuUsage({ user, system })
  const ms = (used.user + used.system) / 1000 / JUDGEMENTS
  console.log(`${what}: ${ms.toFixed(2)} ms of processor time a judgement, ${(ms / PERIOD_MS * 100).toFixed(4)} % of a core`)
}

const spools = new SpoolRig()
await spools.begin()
const sinks = Array.from({ length: SINKS }, (_, i) => ({ key: `gw/${i}`, covers: () => true }))
const spool = await spools.open({ required: () => sinks })
for (let i = 0; i < SOURCES; i++) await spool.append(batchOf(i, 0, `source ${i}`))
measure('all is well', false)
measure('all databases are away', true)
await spools.end()
