import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { HOUR_MS, MadeUpGateway, START_MS, STEP_MS } from './gateways.js'

const RECORDER = join(import.meta.dirname, 'processes', 'recorder.js')
/** After so many steps each: within a minute, at the end of an hour, when days are made of hours. */
const KILLS = [4, 100, 355, 362, 1500, 9000, 9300]

describe('History of a gateway that is killed', function () {
  this.timeout(240_000)
  /** @type {string} */
  let folder

  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-history-kill-')) })
  afterEach(() => rm(folder, { recursive: true }))

  /**
   * Records at least so many steps, is killed in the midst of more, and says when it had recorded last.
   * @param {number} startMs
   * @param {number} steps
   */
  async function recordUntilKilled (startMs, steps) {
    const recorder = spawn(process.execPath, [RECORDER, join(folder, 'history'), String(startMs)], { stdio: ['ignore', 'pipe', 'pipe'] })
    const problems = /** @type {string[]} */ ([])
    recorder.stderr.on('data', text => problems.push(String(text)))
    let lastMs = startMs
    for await (const line of createInterface(recorder.stdout)) {
      lastMs = Number(line)
      if (lastMs >= startMs + steps * STEP_MS) recorder.kill('SIGKILL')
    }
    if (recorder.exitCode === null && recorder.signalCode === null) await once(recorder, 'exit')
    expect(problems).to.deep.equal([])
    expect(recorder.signalCode).to.equal('SIGKILL')
    return lastMs
  }

  it('lacks the last minute at most, however often', async () => {
    let nowMs = START_MS
    /** @type {[number, number][]} what need not be there */
    const lacking = []
    for (const steps of KILLS) {
      nowMs = await recordUntilKilled(nowMs, steps)
      lacking.push([Math.floor(nowMs / 60_000) * 60_000, nowMs])
    }
    const gateway = new MadeUpGateway(folder)
    gateway.nowMs = nowMs
    const window = { fromMs: Math.max(START_MS, nowMs - 24 * HOUR_MS), toMs: nowMs, points: 2000 }
    for (let fromMs = window.fromMs; fromMs < nowMs; fromMs += HOUR_MS) {
      const values = await gateway.values('sink/c0ffee/rows', fromMs, Math.min(nowMs, fromMs + HOUR_MS))
      for (const [i, value] of values.entries()) {
        const timeMs = fromMs + i * STEP_MS
        if (lacking.some(([from, to]) => timeMs >= from && timeMs < to)) continue
        expect(value, new Date(timeMs).toISOString()).to.equal(1)
      }
    }
    const coarse = await gateway.values('sink/c0ffee/rows', START_MS, nowMs)
    expect(coarse).to.not.include(null)
    await gateway.history.close()
    expect(gateway.said).to.deep.equal([])
  })
})
