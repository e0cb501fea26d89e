// Run by the pipeline bench as a process of its own: the machine-tool simulator, as fast as it can, into a spool and on to the broker.
// Arguments: broker url, folder, rows, rows a batch, rows a second (0: no limit). Prints "connected" when ready, starts on SIGUSR2, prints
// "produced" at the end and stays until SIGTERM.
import { once } from 'node:events'
import { join } from 'node:path'
import { connect } from '../../broker/connection/connection.js'
import { RequiredSinks } from '../../broker/out/required-sinks.js'
import { Stage } from '../../broker/out/stage.js'
import { openSimulator } from '../simulators/simulator.js'

const [url, folder, rows, batchRows, rowsPerSecond] = process.argv.slice(2)
/** More than this waiting for the spool holds the simulator. */
const WAITING_BATCHES = 64
/** More than this in the spool means that the broker or the sink is behind: the bench is about the whole path, not the spool's size. */
const SPOOLED_BYTES = 64 * 2 ** 20

const connection = connect({ url }, { clientId: 'bench-producer', clean: false, sessionExpirySeconds: 60 })
const requiredSinks = await RequiredSinks.open({ path: join(folder, '..', 'required-sinks', 'bench.json'), gateway: 'bench' })
const { client } = connection
const stage = await Stage.open({ folder, name: 'bench', gateway: 'bench', client, requiredSinks, fsync: 'interval' })
if (!connection.client.connected) await new Promise(resolve => connection.client.once('connect', resolve))
process.once('SIGTERM', async () => {
  await stage.close(() => connection.close())
  await requiredSinks.close()
})
console.log('connected')
await once(process, 'SIGUSR2')

let waiting = 0
let produced = 0
const start = performance.now()
const isAhead = () => Number(rowsPerSecond) > 0 && produced > (performance.now() - start) / 1000 * Number(rowsPerSecond)
const ended = new Promise(resolve => {
  openSimulator({ name: 'machine', preset: 'machine-tool', paced: false, batchRows: Number(batchRows), maxSamples: Number(rows) }, {
    emit: batch => {
      waiting++
      produced += batch.rows
      stage.append(batch).finally(() => { waiting-- })
    },
    isPaused: () => isAhead() || waiting > WAITING_BATCHES || stage.state.spoolBytes > SPOOLED_BYTES,
    log: console,
    onEnd: resolve
  })
})
await ended
console.log('produced')
