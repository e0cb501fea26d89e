import { expect } from 'chai'
import { systemClock } from '../../gateway/clock/system-clock.js'
import { openModbusRead } from '../../gateway/modbus/source.js'
import { recorder } from '../sources/manual-clock.js'
import { answerAddress, failure, lineRig, read, readAtLast } from './wire-rig.js'

/** @typedef {import('./wire-fake-slaves.js').FakeRequest} FakeRequest */

/** Answers one request of each connection and closes it; what is sent on it later gets no answer. @param {FakeRequest} request */
function answerAndClose (request) {
  if (request.socket.writableEnded) return
  answerAddress(request)
  request.socket.end()
}

describe('A Modbus device that closes the connection after each reply', () => {
  const { open, slaves } = lineRig()

  it('answers all requests that wait for it', async () => {
    const device = open(await slaves(answerAndClose))
    expect(await Promise.all([1, 2, 3, 4, 5].map(address => read(device, address)))).to.deep.equal([[1], [2], [3], [4], [5]])
    expect(device.health).to.include({ state: 'good', timeouts: 0, badReplies: 0 })
    expect(device.health.disconnects).to.equal(0)
    expect(device.said).to.deep.equal([])
  })

  it('answers those that are made one after the other', async () => {
    const device = open(await slaves(answerAndClose))
    for (const address of [1, 2, 3, 4, 5]) expect(await read(device, address)).to.deep.equal([address])
  })

  it('gives all values of each poll', async () => {
    const device = open(await slaves(answerAndClose))
    const recording = recorder(/** @type {any} */ (systemClock))
    const three = Promise.withResolvers()
    const tags = [0, 1000, 2000, 3000, 4000].map(address => ({ name: `t${address}`, address: String(address), type: 'uint16' }))
    const source = openModbusRead({ name: 'plant', batchMs: 0, tags, groups: [{ name: 'default', periodMs: 20 }] }, {
      ...recording,
      emit (batch) {
        recording.emit(batch)
        if (recording.batches.length === 3) three.resolve(undefined)
      },
      device,
      deviceName: 'meter'
    })
    await three.promise
    await source.close()
    for (const row of recording.rows().slice(0, 3)) {
      expect(row).to.deep.equal({ time: row.time, t0: 0, t1000: 1000, t2000: 2000, t3000: 3000, t4000: 4000 })
    }
  })

  it('gets each request once, as soon as it is known to close', async () => {
    const fake = await slaves(answerAndClose)
    const device = open(fake, { pipeline: 4 })
    for (let address = 1; address <= 10; address++) await read(device, address)
    await device.close()
    expect(device.health.requests).to.be.within(10, 11)
    expect(fake.requests.length).to.be.within(10, 11)
  })

  it('confirms writes too, which are never sent twice', async () => {
    const fake = await slaves(request => {
      if (request.socket.writableEnded) return
      if (request.pdu[0] === 3) return answerAndClose(request)
      request.socket.end(request.frame(request.pdu))
    })
    const device = open(fake)
    for (let address = 1; address <= 4; address++) {
      await device.write('holding-registers', address, [address])
      expect(await read(device, address)).to.deep.equal([address])
    }
    expect(fake.requests.filter(({ pdu }) => pdu[0] === 6).map(({ address }) => address)).to.deep.equal([1, 2, 3, 4])
  })

  it('serves the devices of a gateway in turn', async () => {
    const fake = await slaves(answerAndClose)
    const devices = [1, 2, 3].map(unit => open(fake, { unit, shareConnection: true, pipeline: 4 }))
    const all = await Promise.all(devices.flatMap((device, i) => [read(device, 10 * i), read(device, 10 * i + 1)]))
    expect(all).to.deep.equal([[0], [1], [10], [11], [20], [21]])
  })

  it('is used as any other once it no longer closes', async () => {
    const fake = await slaves(request => request.connection <= 3 ? answerAndClose(request) : answerAddress(request))
    const device = open(fake, { timeoutMs: 1000 })
    for (let address = 1; address <= 8; address++) expect(await read(device, address)).to.deep.equal([address])
    expect(fake.connections).to.equal(4)
    const startedMs = performance.now()
    for (let address = 1; address <= 5; address++) expect(await read(device, address)).to.deep.equal([address])
    expect(performance.now() - startedMs).to.be.below(5 * 1000)
  })
})

describe('A Modbus device that closes the connection when it gets a certain request', () => {
  const { open, slaves } = lineRig()

  it('gets that twice at most', async () => {
    const fake = await slaves(request => request.address === 66 ? request.socket.destroy() : answerAddress(request))
    const device = open(fake)
    const outcomes = await Promise.all([1, 66, 2].map(address => failure(read(device, address)).then(({ code }) => code)))
    expect(outcomes.slice(0, 2)).to.deep.equal(['none', 'SLUICE_MODBUS_DISCONNECTED'])
    expect(fake.requests.filter(({ address }) => address === 66)).to.have.length(2)
    expect(await readAtLast(device, 3)).to.deep.equal([3])
  })
})
