import { readdirSync } from 'node:fs'
import { expect } from 'chai'
import { systemClock } from '../../gateway/clock/system-clock.js'
import { openCanRead } from '../../gateway/can/read.js'
import { cycleTimesOf } from '../../gateway/simulators/vehicle/cycle-times.js'
import { openVehicle } from '../../gateway/simulators/vehicle/vehicle.js'
import { Car } from '../../gateway/simulators/vehicle/car.js'
import { recorder } from '../sources/manual-clock.js'
import { Ear, open, quiet } from '../can/bus/rig.js'

const DBC_FILE = 'data/vehicle.dbc'
const DBC_FOLDER = 'test/data/can/dbc'
const CHANNELS = [
  'throttlepedal', 'torque', 'boostpressure', 'gammalongitudinal', 'speed', 'wheeltorque', 'externaltemp', 'yawrate', 'engineoiltemp',
  'intakeairtemp', 'tripdistance', 'enginerpm', 'wheelspeedfrontleft', 'wheelspeedfrontright', 'wheelspeedrearleft', 'wheelspeedrearright',
  'gear', 'gammatransversal', 'brakepressure', 'coolanttemp', 'cabintemp', 'power'
]
const MS = 1_000_000n

describe('vehicle', () => {
  let buses = 0
  /** @type {(() => Promise<void>)[]} */
  let closers = []
  afterEach(async () => {
    for (const close of closers.reverse()) await close()
    closers = []
  })

  /** A vehicle on a bus that is read. @param {object} [options] @param {string} [dbcFile] */
  async function driving (options = {}, dbcFile = DBC_FILE) {
    const recording = recorder()
    const bus = await open({ kind: 'virtual', channel: `vehicle${buses++}`, fd: true }, { clock: recording.clock })
    const source = openCanRead({ name: 'car', dbcFile }, { ...recording, bus })
    const ear = new Ear()
    bus.listen(ear)
    const start = recording.clock.ns
    const vehicle = openVehicle(options, { bus, clock: recording.clock, log: recording.log })
    closers.push(() => bus.close(), () => source.close(), () => vehicle.close())
    /** The rows of a message. @param {string} name */
    const rowsOf = name => recording.batches.filter(batch => batch.source === `car.${name}`).flatMap(batch => batch.toObjects())
    return { recording, clock: recording.clock, source, vehicle, ear, start, rowsOf }
  }

  it('has the 22 channels of the study on its bus', async () => {
    const { clock, recording } = await driving()
    clock.advance(1100)
    const fields = new Set(recording.batches.flatMap(batch => batch.fields.map(({ name }) => name)))
    expect(CHANNELS).to.have.length(22)
    expect([...fields]).to.include.members(CHANNELS)
  })

  it('sends each cyclic message at exact times', async () => {
    const { clock, rowsOf, start, vehicle } = await driving()
    clock.advance(2060)
    /** @type {[string, number, number][]} */
    const cycles = [
      ['Dynamics', 10, 200], ['WheelSpeeds', 20, 100], ['Engine', 20, 100], ['Brakes', 20, 100], ['Drive', 100, 20],
      ['Temperatures', 1000, 2], ['Trip', 1000, 2]
    ]
    for (const [position, [name, periodMs, count]] of cycles.entries()) {
      const times = rowsOf(name).map(({ time }) => time)
      expect(times.length, name).to.be.at.least(count)
      times.forEach((time, k) => expect(time, name).to.equal(start + BigInt(position) * 250_000n + BigInt(k * periodMs) * MS))
    }
    expect(vehicle.counters).to.include({ late: 0, missed: 0, errors: 0 })
  })

  it('sends what happens when it happens, between the others', async () => {
    const { clock, rowsOf, ear } = await driving()
    clock.advance(10_000)
    expect(rowsOf('Door').map(({ door }) => door)).to.deep.equal([1, 0])
    const changes = rowsOf('GearChange')
    expect(changes.length).to.be.above(1)
    changes.forEach(({ gearfrom, gearto, gearchanges }, i) => {
      expect(gearchanges).to.equal(i + 1)
      expect(gearfrom).to.equal(i === 0 ? 0 : changes[i - 1].gearto)
      expect(Math.abs(Number(gearto) - Number(gearfrom))).to.equal(1)
    })
    expect(rowsOf('BrakePedal').map(({ brakepedal }) => brakepedal).slice(0, 2)).to.deep.equal([1, 0])
    expect(ear.times.every((ns, i) => i === 0 || ns >= ear.times[i - 1])).to.equal(true)
  })

  it('drives the same way again with the same seed, and another with another', async () => {
    const drives = []
    for (const seed of [1, 1, 2]) {
      const { clock, rowsOf } = await driving({ seed })
      clock.advance(20_000)
      drives.push(rowsOf('Drive').map(({ speed }) => speed))
    }
    expect(drives[0]).to.deep.equal(drives[1])
    expect(drives[0]).to.not.deep.equal(drives[2])
  })

  it('fits together: wheels and speed, engine and gear, power and torque, yaw rate and g', () => {
    const car = new Car(7)
    for (let second = 0; second < 600; second++) {
      car.driveTo(second)
      const {
        speed, wheelspeedrearleft, wheelspeedrearright, torque, enginerpm, power, yawrate, gammatransversal, gear, throttlepedal,
        brakepressure
      } = car.channels()
      expect((wheelspeedrearleft + wheelspeedrearright) / 2).to.be.closeTo(speed / 3.6 / (2 * Math.PI * 0.325) * 60, 0.02 * speed)
      expect(power).to.be.closeTo(torque * enginerpm / 7127, 1e-9)
      expect(gammatransversal).to.be.closeTo(-speed / 3.6 * yawrate / 57.2958 / 9.81, 0.02)
      expect(gear).to.be.within(0, 5)
      expect(speed).to.be.within(0, 125)
      expect(throttlepedal > 40 && brakepressure > 1).to.equal(false)
    }
    const { tripdistance } = car.channels()
    expect(tripdistance).to.be.within(3, 15)
  })

  it('catches up after a pause, and counts what came late', async () => {
    const { clock, rowsOf, vehicle } = await driving()
    clock.advance(100)
    clock.stall(500)
    clock.advance(500)
    const counts = rowsOf('Dynamics').map(({ counter }) => counter)
    expect(counts).to.deep.equal(counts.map((_, i) => i % 256))
    expect(counts.length).to.be.at.least(104)
    expect(vehicle.counters.missed).to.equal(0)
    expect(vehicle.counters.late).to.be.within(120, 140) // 48 of Dynamics, 24 of each of three, and some
  })

  it('leaves out what is more than a second old, counts it, with the car standing still meanwhile', async () => {
    const { clock, rowsOf, vehicle } = await driving()
    clock.advance(9000)
    const [before] = rowsOf('Trip').slice(-1)
    clock.stall(3_600_000)
    clock.advance(2000)
    const [after] = rowsOf('Trip').slice(-1)
    const dynamics = rowsOf('Dynamics')
    expect(vehicle.counters.missed).to.be.above(3599 * 250)
    expect(Number(after.tripdistance) - Number(before.tripdistance)).to.be.below(0.2)
    const due = Number(/** @type {bigint} */ (dynamics.at(-1)?.time) - /** @type {bigint} */ (dynamics[0].time)) / 1e7 + 1
    expect(vehicle.counters.missed).to.be.above(due - dynamics.length)
    expect(dynamics.at(-1)?.counter).to.equal((due - 1) % 256)
  }).timeout(20_000)

  it('sends as many times as often as told', async () => {
    const { clock, rowsOf } = await driving({ multiple: 5 })
    clock.advance(1060)
    expect(rowsOf('Dynamics').length).to.be.within(500, 531)
  })

  it('reports what is wrong while the bus does not accept its frames', async () => {
    const { clock } = recorder()
    const bus = await open({ kind: 'virtual', channel: 'refusing' }, { clock })
    bus.send = () => Promise.reject(new Error('bus-off'))
    const vehicle = openVehicle({}, { bus, clock, log: quiet })
    clock.advance(50)
    await new Promise(resolve => setImmediate(resolve))
    expect(vehicle.trouble()).to.equal('bus-off')
    expect(vehicle.counters).to.include({ frames: 0 })
    expect(vehicle.counters.errors).to.be.above(10)
    await vehicle.close()
    await bus.close()
  })

  it('loses no frame while this process is busy 20 ms in every 100', async function () {
    const bus = await open({ kind: 'virtual', channel: 'busy' })
    const recording = recorder()
    const source = openCanRead({ name: 'car', dbcFile: DBC_FILE }, { ...recording, clock: systemClock, bus })
    const vehicle = openVehicle({}, { bus, clock: systemClock, log: quiet })
    const busy = setInterval(() => {
      for (const end = performance.now() + 20; performance.now() < end;);
    }, 100)
    while (recording.rows().filter(({ counter }) => counter !== undefined).length < 150) {
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    clearInterval(busy)
    await vehicle.close()
    await source.close()
    await bus.close()
    const dynamics = recording.rows().filter(({ counter }) => counter !== undefined)
    dynamics.forEach(({ time, counter }, k) => {
      expect(counter).to.equal(k % 256)
      expect(time).to.equal(/** @type {bigint} */ (dynamics[0].time) + BigInt(k) * 10n * MS)
    })
    expect(vehicle.counters).to.include({ missed: 0, errors: 0 })
    expect(source.counters).to.include({ missed: 0, unknownIds: 0, undecodable: 0 })
  })

  describe('of any DBC file', () => {
    for (const file of readdirSync(DBC_FOLDER).filter(name => name.endsWith('.dbc') && name !== 'cantools-cp1252.dbc')) {
      it(`sends the messages of ${file}, all values in their ranges`, async () => {
        const dbcFile = `${DBC_FOLDER}/${file}`
        const { clock, source, vehicle, ear } = await driving({ kind: 'dbc', dbcFile, cycleMs: 50 }, dbcFile)
        clock.advance(1060)
        expect(ear.frames.length).to.be.above(0)
        expect(vehicle.counters).to.include({ errors: 0, missed: 0 })
        expect(vehicle.trouble()).to.equal(undefined)
        expect(source.counters).to.include({ unknownIds: 0, undecodable: 0 })
      })
    }

    it('gives each signal of a multiplexed message its turn', async () => {
      const dbcFile = `${DBC_FOLDER}/cantools-multiplex.dbc`
      const { clock, rowsOf } = await driving({ kind: 'dbc', dbcFile, cycleMs: 10 }, dbcFile)
      clock.advance(1060)
      expect(rowsOf('Message1').slice(0, 6).map(({ Multiplexor }) => Multiplexor)).to.deep.equal([8, 16, 24, 8, 16, 24])
    })

    it('leaves out messages that do not fit into a frame, and reports them', async () => {
      const { recording } = await driving({ kind: 'dbc', dbcFile: `${DBC_FOLDER}/cantools-j1939.dbc` })
      expect(recording.warnings.filter(text => /fit into one frame|bad/.test(text)).length).to.be.at.most(1)
    })
  })

  it('reads cycle times', () => {
    const timeOf = cycleTimesOf(
      'BA_DEF_DEF_ "GenMsgCycleTime" 7;\nBA_ "GenMsgCycleTime" BO_ 5 20;\nBA_ "GenMsgCycleTime" BO_ 2147483653 30;\nBA_ "Other" BO_ 6 40;'
    )
    const times = [timeOf({ id: 5, extended: false }), timeOf({ id: 5, extended: true }), timeOf({ id: 6, extended: false })]
    expect(times).to.deep.equal([20, 30, 7])
    expect(cycleTimesOf('BA_ "GenMsgCycleTime" BO_ 5 0.0001;')({ id: 5, extended: false })).to.equal(1)
    for (const silent of ['BO_ 5 X: 8 Y', 'BA_DEF_DEF_ "GenMsgCycleTime" 0;\nBA_ "GenMsgCycleTime" BO_ 5 0;']) {
      expect(cycleTimesOf(silent)({ id: 5, extended: false })).to.equal(undefined)
    }
  })
})
