import { expect } from 'chai'
import { runWeek } from '../../gateway/bench/sources/modbus-week.js'
import { openDevice } from '../../gateway/modbus/device.js'
import { openModbusSimulator } from '../../gateway/simulators/modbus/simulator.js'
import { openModbusRead } from '../../gateway/modbus/source.js'
import { ptyPair, requirePty } from '../servers/pty.js'

/** @typedef {import('../../gateway/simulators/modbus/simulator.js').ModbusSimulator} ModbusSimulator */

const log = { info () {}, warn () {}, error () {} }
const TAGS = [{ name: 'parts', area: 'holding-registers', address: '0', type: 'uint16' }]
const DEVICES = 30
const ALIVE = 20

describe('Modbus in the long run', function () {
  this.timeout(60_000)

  /** What is to be closed, the last first. @type {(() => Promise<unknown>)[]} */
  const ends = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  /** @param {object} options */
  const simulate = async options => {
    const simulator = await openModbusSimulator({ port: 0, ...options }, { log })
    ends.push(() => simulator.close())
    return simulator
  }

  /** @param {ModbusSimulator} simulator @param {object} options */
  const connect = ({ port }, options) => {
    const device = openDevice({ connection: 'tcp', host: '127.0.0.1', port, ...options }, { log })
    ends.push(() => device.close())
    return device
  }

  /**
   * Polls a device; `take` gets each row.
   * @param {import('../../gateway/modbus/device.js').Device} device
   * @param {number} periodMs
   * @param {(row: any) => void} take
   */
  const poll = (device, periodMs, take) => {
    const options = { name: 'plant', tags: TAGS, groups: [{ name: 'all', periodMs }], batchMs: 0 }
    const source = openModbusRead(options, {
      device,
      deviceName: 'plant',
      log,
      isPaused: () => false,
      onEnd: () => {},
      emit: batch => { for (const row of batch.toObjects()) take(row) }
    })
    ends.push(() => source.close())
    return source
  }

  /** Two serial ports, wired to each other. @param {Mocha.Context} context */
  async function serialLine (context) {
    requirePty(context)
    const pair = await ptyPair()
    ends.push(() => pair.close())
    const serial = (/** @type {number} */ end) => ({ connection: 'rtu', path: pair.paths[end], baudRate: 115_200 })
    return { slave: serial(0), master: serial(1) }
  }

  it('keeps the period of 20 devices on TCP although 10 others are dead', async () => {
    const periodMs = 100
    const polls = 50
    const sources = []
    const rows = new Array(DEVICES).fill(0)
    const reached = Promise.withResolvers()
    for (let i = 0; i < DEVICES; i++) {
      const simulator = await simulate({ faults: i < ALIVE ? [] : [{ fault: 'silence' }] })
      sources.push(poll(connect(simulator, {}), periodMs, row => {
        if (row.parts === undefined || row.parts === null) return
        rows[i]++
        if (rows.slice(0, ALIVE).every(count => count >= polls)) reached.resolve(undefined)
      }))
    }
    const stopTimer = bareTimer(periodMs)
    await reached.promise
    const timerP99Ms = stopTimer()

    const alive = sources.slice(0, ALIVE)
    const latenessP99Ms = Math.max(...alive.map(source => Number(source.gauge?.().latenessP99Ms)))
    expect(latenessP99Ms - timerP99Ms).to.be.below(periodMs) // what a timer is late as well is not for want of the dead
    for (const { counters } of alive) expect(counters).to.include({ errors: 0, skipped: 0 })
    expect(rows.slice(ALIVE).every(count => count === 0)).to.equal(true)
  })

  for (const { line, lay } of [
    { line: 'line of RTU over TCP', lay: async () => ({ slave: { connection: 'rtu-over-tcp' }, master: { connection: 'rtu-over-tcp' } }) },
    { line: 'serial line', lay: serialLine }
  ]) {
    it(`loses one timeout a probe, and no more than one at a time, where 10 of 30 units on a ${line} are dead`, async function () {
      const { slave, master } = await lay(this)
      const timeoutMs = 40
      const longestRetryMs = 320
      const rounds = 50
      const simulator = await simulate({ ...slave, units: `1-${DEVICES}`, faults: [{ fault: 'silence', unit: `${ALIVE + 1}-${DEVICES}` }] })
      const devices = Array.from(
        { length: DEVICES },
        (_, i) => connect(simulator, {
          ...master,
          unit: i + 1,
          timeoutMs: i < ALIVE ? 10_000 : timeoutMs,
          firstRetryMs: 10,
          longestRetryMs
        })
      )
      const [alive, dead] = [devices.slice(0, ALIVE), devices.slice(ALIVE)]
      const timeouts = () => dead.reduce((sum, { health }) => sum + health.timeouts, 0)
      await Promise.all(alive.map(device => device.read('holding-registers', 0, 2)))

      let isOver = false
      const startMs = performance.now()
      const probing = Promise.all(dead.map(async device => {
        while (!isOver) await device.read('holding-registers', 0, 2).catch(error => pause(error.details.retryInMs ?? 0))
      }))
      let worst = 0
      await Promise.all(alive.map(async (device, i) => {
        for (let round = 0; round < rounds; round++) {
          await pause(10 + i)
          const before = timeouts()
          await device.read('holding-registers', 0, 2)
          worst = Math.max(worst, timeouts() - before)
        }
      }))
      for (const { health } of alive) expect(health).to.include({ timeouts: 0, badReplies: 0, disconnects: 0, state: 'good' })
      isOver = true
      const elapsedMs = performance.now() - startMs
      await probing

      expect(worst).to.be.at.most(1)
      for (const { health } of dead) expect(health.timeouts).to.be.within(2, mostProbes(elapsedMs, { timeoutMs, longestRetryMs }))
      expect(timeouts()).to.equal(simulator.counters.faults.silence)
    })
  }

  it('continues each time a device returns that disappears 50 times', async () => {
    const simulator = await simulate({})
    const device = connect(simulator, { timeoutMs: 50, firstRetryMs: 10, longestRetryMs: 100 })
    /** @type {{isGood: boolean, resolve: (value?: unknown) => void}|null} */
    let awaited = null
    poll(device, 10, row => {
      if (awaited && awaited.isGood === (row.quality === undefined || row.quality === null)) awaited.resolve()
    })
    const row = (/** @type {boolean} */ isGood) => new Promise(resolve => { awaited = { isGood, resolve } })

    await row(true)
    for (let time = 0; time < 50; time++) {
      await simulator.setFault({ fault: time % 2 === 0 ? 'offline' : 'silence' })
      await row(false)
      await simulator.setFault({ fault: 'none' })
      await row(true)
    }
    expect(device.health.state).to.equal('good')
    expect(device.health.disconnects).to.be.at.least(25)
    expect(device.health.timeouts).to.be.at.least(25)
  })

  it('takes no more memory with time (20,000 polls; gateway/bench/sources/modbus-week.js runs a week of them)', async () => {
    const { polls, rowsEmitted, rowsBad, heapMegabytes } = await runWeek({ polls: 20_000, sampleEvery: 4000 })
    expect(polls).to.be.at.least(20_000)
    expect(rowsBad / rowsEmitted).to.be.below(0.05)
    expect(heapMegabytes[heapMegabytes.length - 1] - heapMegabytes[1], heapMegabytes.join()).to.be.below(3)
  })
})

/**
 * By how much a timer alone is late at the 99th percentile, in milliseconds: what the machine is to blame for.
 * @param {number} periodMs
 * @returns {() => number} stops it
 */
function bareTimer (periodMs) {
  const startMs = performance.now()
  /** @type {number[]} */
  const late = []
  let turn = 0
  let timer = setTimeout(tick, 0)
  function tick () {
    const dueMs = startMs + turn * periodMs
    late.push(performance.now() - dueMs)
    turn = Math.max(turn + 1, Math.ceil((performance.now() - startMs) / periodMs))
    timer = setTimeout(tick, startMs + turn * periodMs - performance.now())
  }
  return () => {
    clearTimeout(timer)
    return late.sort((a, b) => a - b)[Math.floor(late.length * 0.99)]
  }
}

/**
 * How often a dead unit may be asked: first after two timeouts, then each time after twice as long.
 * @param {number} elapsedMs
 * @param {{timeoutMs: number, longestRetryMs: number}} options
 */
function mostProbes (elapsedMs, { timeoutMs, longestRetryMs }) {
  let probes = 1
  for (let [atMs, backoffMs] = [timeoutMs, 2 * timeoutMs]; atMs < elapsedMs; probes++) {
    atMs += backoffMs + timeoutMs
    backoffMs = Math.min(longestRetryMs, 2 * backoffMs)
  }
  return probes + 1
}

/** @param {number} ms */
function pause (ms) {
  return new Promise(resolve => setTimeout(resolve, Math.ceil(ms)))
}
