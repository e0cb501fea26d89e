import { expect } from 'chai'
import { answerAddress, failure, lineRig, read, rtu, TIMEOUT_MS } from './wire-rig.js'

describe('a shared Modbus line', () => {
  const { open, slaves } = lineRig()

  it('serves devices in turn: one with many requests does not delay the others', async () => {
    const fake = await slaves(answerAddress, { rtu: true })
    const [greedy, ...modest] = [1, 2, 3].map(unit => open(fake, { ...rtu, unit }))
    const all = Promise.all([...Array.from({ length: 20 }, () => read(greedy)), ...modest.flatMap(device => [read(device), read(device)])])
    await all
    expect(fake.requests.slice(0, 8).map(({ unit }) => unit)).to.deep.equal([1, 2, 3, 1, 2, 3, 1, 1])
    expect(fake.connections).to.equal(1)
  })

  it('loses at most a timeout for each of a dead device\'s ever rarer probes', async () => {
    const DEAD = 3
    const fake = await slaves(request => { if (request.unit !== DEAD) answerAddress(request) }, { rtu: true })
    const devices = [1, 2, DEAD].map(unit => open(fake, { ...rtu, unit, ...(unit === DEAD && { timeoutMs: 20 }) }))
    const isOver = () => fake.requests.filter(({ unit }) => unit === DEAD).length === 4
    const failures = await Promise.all(devices.map(async device => {
      const codes = new Set()
      while (!isOver()) {
        codes.add((await failure(read(device))).code)
        await new Promise(setImmediate)
      }
      return [...codes]
    }))
    expect(failures).to.deep.equal([['none'], ['none'], ['SLUICE_MODBUS_TIMEOUT', 'SLUICE_MODBUS_SILENT']])
    const probes = fake.requests.flatMap(({ unit, atMs }) => unit === DEAD ? atMs : [])
    probes.slice(1).forEach((atMs, i) => expect(atMs - probes[i]).to.be.at.least(0.75 * 40 * 2 ** i))
    expect(devices[2].health).to.include({ state: 'silent', timeouts: devices[2].health.requests })
    expect(devices[0].health).to.include({ state: 'good', timeouts: 0 })
  })

  it('loses no more than one timeout at a time to many dead devices', async () => {
    const LIVE = [1, 2]
    const fake = await slaves(request => { if (LIVE.includes(request.unit)) answerAddress(request) }, { rtu: true })
    const devices = [...LIVE, 3, 4, 5].map(unit => open(fake, { ...rtu, unit, ...(!LIVE.includes(unit) && { timeoutMs: 20 }) }))
    const isDead = (/** @type {{unit: number}} */ { unit }) => !LIVE.includes(unit)
    await Promise.all(devices.map(async device => {
      while (fake.requests.filter(isDead).length < 8) {
        await failure(read(device))
        await new Promise(setImmediate)
      }
    }))
    const betweenProbes = fake.requests.map(request => isDead(request) ? 'x' : request.unit).join('').split('x').slice(0, 8)
    for (const turns of betweenProbes) expect(turns).to.contain('1').and.contain('2')
  })

  it('rejects requests for a dead device at once', async () => {
    const fake = await slaves(() => {}, { rtu: true })
    const device = open(fake, { ...rtu, timeoutMs: 50 })
    const codes = await Promise.all(Array.from({ length: 5 }, () => failure(read(device)).then(({ code }) => code)))
    expect(codes).to.deep.equal(['SLUICE_MODBUS_TIMEOUT', ...Array(4).fill('SLUICE_MODBUS_SILENT')])
    expect(fake.requests).to.have.length(1)
  })

  it('does not mistake a late reply for one to another node with the same unit', async () => {
    /** @type {import('./wire-fake-slaves.js').FakeRequest|undefined} */
    let late
    const fake = await slaves(request => {
      if (!late) {
        late = request
        return
      }
      late.reply(666)
      answerAddress(request)
    }, { rtu: true })
    const twins = [1, 1].map(unit => open(fake, { ...rtu, unit, timeoutMs: TIMEOUT_MS, firstRetryMs: 5000 }))
    const outcomes = await Promise.all(twins.map((device, i) => failure(read(device, i))))
    expect(outcomes.map(({ code }) => code)).to.deep.equal(['SLUICE_MODBUS_TIMEOUT', 'SLUICE_MODBUS_SILENT'])
    expect(twins[1].health).to.include({ state: 'silent', timeouts: 0 })
  })

  it('is shared by the devices of a TCP gateway that ask for it', async () => {
    const fake = await slaves(answerAddress)
    const devices = [1, 2].map(unit => open(fake, { unit, shareConnection: true }))
    await Promise.all(devices.map(device => read(device)))
    expect(fake.connections).to.equal(1)
    await devices[0].close()
    expect(await read(devices[1], 4)).to.deep.equal([4])
    const own = open(fake)
    await read(own)
    expect(fake.connections).to.equal(2)
  })

  it('reports its state to a device that joins while it is down', async () => {
    const fake = await slaves(answerAddress, { rtu: true })
    await fake.close()
    const first = open(fake, { ...rtu, firstRetryMs: 5000 })
    expect(await failure(read(first))).to.include({ code: 'SLUICE_MODBUS_DISCONNECTED' })
    const second = open(fake, { ...rtu, unit: 2 })
    expect(second.health.state).to.equal('disconnected')
    expect(await failure(read(second))).to.include({ code: 'SLUICE_MODBUS_DISCONNECTED' })
  })

  it('has one set of serial settings', () => {
    const line = { connection: 'rtu', path: '/dev/sluice-no-such-port' }
    open({ port: 1 }, line)
    expect(() => open({ port: 1 }, { ...line, unit: 2, baudRate: 9600 })).to.throw(
      '/dev/sluice-no-such-port is in use with 19200 baud, 8E1, and cannot have 9600 baud, 8E1 at the same time.'
    )
  })
})
