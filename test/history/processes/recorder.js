import { History } from '../../../gateway/history/history.js'
import { Stats } from '../../../gateway/stats/stats.js'

// node recorder.js FOLDER START_MS: records ten seconds after the other as fast as it can, and says the time of each, until it is killed.

const [folder, start] = process.argv.slice(2)
let nowMs = Number(start)
const stats = new Stats()
const sink = stats.meter('sink', 'plant', 'c0ffee')
const now = () => nowMs
const history = new History({ stats, folder: () => folder, log: console, nowMs: now, monotonicMs: now })
while (true) {
  nowMs += 10_000
  sink.rows += 10
  await history.record()
  process.stdout.write(`${nowMs}\n`)
}
