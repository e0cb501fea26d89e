import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { systemClock, wallClock } from '../../gateway/clock/system-clock.js'
import { TimeLine } from '../../gateway/clock/time-line.js'
import { registersPdu } from './wire-fake-slaves.js'
import { TIMEOUT_MS, answerAddress, failure, lineRig, read, readAtLast, rtu } from './wire-rig.js'

/** @typedef {import('./wire-fake-slaves.js').FakeRequest} FakeRequest */

describe('a Modbus line', () => {
  const { open, slaves } = lineRig()

  describe('matches replies', () => {
    it('that arrive in single bytes', async () => {
      const device = open(await slaves(async request => {
        for (const byte of request.frame(registersPdu(3, [300, 301]))) {
          request.socket.write(Uint8Array.of(byte))
          await new Promise(setImmediate)
        }
      }))
      expect(await read(device, 300, 2)).to.deep.equal([300, 301])
      expect(device.health).to.include({ state: 'good', requests: 1, badReplies: 0 })
    })

    it('by transaction, in any order, several at a time', async () => {
      /** @type {FakeRequest[]} */
      const held = []
      const fake = await slaves(request => {
        held.push(request)
        if (request.address === 0) answerAddress(request)
        if (held.length === 5) held.slice(1).reverse().forEach(answerAddress)
      })
      const device = open(fake, { pipeline: 4 })
      expect(await read(device, 0)).to.deep.equal([0])
      expect(await Promise.all([11, 12, 13, 14].map(address => read(device, address)))).to.deep.equal([[11], [12], [13], [14]])
    })

    it('and sends one request at a time by default, or until the device has answered', async () => {
      const held = /** @type {FakeRequest[]} */ ([])
      let most = 0
      const fake = await slaves(request => {
        held.push(request)
        most = Math.max(most, held.length)
        setImmediate(() => answerAddress(/** @type {FakeRequest} */ (held.shift())))
      })
      const device = open(fake)
      await Promise.all([1, 2, 3, 4].map(address => read(device, address)))
      expect(most).to.equal(1)
    })

    it('and drops those of another transaction: the right one may follow', async () => {
      const device = open(await slaves(request => {
        request.socket.write(request.frame(registersPdu(3, [666]), { transaction: 999 }))
        answerAddress(request)
      }))
      expect(await read(device, 7)).to.deep.equal([7])
    })

    it('and accepts none of another unit or function, or of a wrong length', async () => {
      const replies = [
        (/** @type {FakeRequest} */ request) => request.frame(registersPdu(3, [1]), { unit: 9 }),
        (/** @type {FakeRequest} */ request) => request.frame(registersPdu(4, [1])),
        (/** @type {FakeRequest} */ request) => request.frame(registersPdu(3, [1, 2]))
      ]
      const device = open(await slaves(request => { request.socket.write(/** @type {any} */ (replies.shift())(request)) }))
      for (const problem of ['unit 9 instead of 1', 'function 4 instead of 3', '6 bytes instead of 4']) {
        const error = await failure(read(device))
        expect(error).to.include({ code: 'SLUICE_MODBUS_REPLY', message: `Unit 1 at ${placeOf(error)} sent a bad reply: ${problem}.` })
        expect(error.details.quality).to.equal('bad reply')
      }
      expect(device.health).to.include({ badReplies: 3, timeouts: 0 })
    })

    it('and drops those that arrive after the timeout', async () => {
      /** @type {FakeRequest} */
      let late
      const device = open(await slaves(request => {
        if (!late) {
          late = request
          return
        }
        late.reply(666)
        answerAddress(request)
      }), { timeoutMs: TIMEOUT_MS })
      const error = await failure(read(device, 1))
      expect(error).to.include({ code: 'SLUICE_MODBUS_TIMEOUT' })
      expect(error.details.quality).to.equal('timeout')
      expect(await readAtLast(device, 2)).to.deep.equal([2])
    })

    it('that arrived in time while the process was too busy to read them', async () => {
      const device = open(await slaves(request => {
        answerAddress(request)
        for (const startMs = performance.now(); performance.now() - startMs < 2 * TIMEOUT_MS;);
      }), { timeoutMs: TIMEOUT_MS })
      expect(await read(device, 6)).to.deep.equal([6])
      expect(device.health.timeouts).to.equal(0)
    })

    it('of RTU after garbage', async () => {
      const device = open(await slaves(request => {
        request.socket.write(Uint8Array.of(0, 255, 1, 3, 77))
        answerAddress(request)
      }, { rtu: true }), rtu)
      expect(await read(device, 300, 3)).to.deep.equal([300, 301, 302])
    })

    it('of RTU only with the right checksum, and reports a wrong one before the timeout', async () => {
      const device = open(await slaves(request => {
        const frame = request.frame(registersPdu(3, [1]))
        frame[4] ^= 8
        request.socket.write(frame)
      }, { rtu: true }), { ...rtu, timeoutMs: 20_000 })
      expect(await failure(read(device))).to.include({ code: 'SLUICE_MODBUS_REPLY' })
      expect(device.health).to.include({ badReplies: 1, timeouts: 0 })
    })

    it('of RTU unless they are late: to another device, or with no pending request', async () => {
      /** @type {FakeRequest[]} */
      const late = []
      const fake = await slaves(request => {
        if (request.unit === 1 && late.length === 0) return late.push(request)
        if (request.unit === 2) late[0].reply(666)
        answerAddress(request)
      }, { rtu: true })
      const first = open(fake, { ...rtu, unit: 1, timeoutMs: TIMEOUT_MS })
      const second = open(fake, { ...rtu, unit: 2 })
      expect(await failure(read(first, 1))).to.include({ code: 'SLUICE_MODBUS_TIMEOUT' })
      expect(await read(second, 2)).to.deep.equal([2])
      await new Promise(resolve => late[0].socket.write(late[0].frame(registersPdu(3, [667])), resolve))
      expect(await readAtLast(first, 3)).to.deep.equal([3])
    })

    it('of RTU except the first after a silence, which may be late: the request is repeated', async () => {
      for (const isSecondLost of [false, true]) {
        const fake = await slaves(request => {
          const nth = fake.requests.length
          if (nth === 1) return
          if (nth === 2) fake.requests[0].reply(666)
          if (nth > 2 || !isSecondLost) answerAddress(request)
          request.socket.write(Uint8Array.of(0xFF)) // as a line may give when it is let go
        }, { rtu: true })
        const device = open(fake, { ...rtu, timeoutMs: TIMEOUT_MS })
        expect(await failure(read(device, 1))).to.include({ code: 'SLUICE_MODBUS_TIMEOUT' })
        expect(await readAtLast(device, 2)).to.deep.equal([2])
        expect(fake.requests.map(({ address }) => address)).to.deep.equal([1, 2, 2])
        expect(device.health).to.include({ state: 'good', badReplies: 0 })
      }
    })

    it('of RTU unless they are late and the line was quiet: the device gets a longer pause and a warning', async () => {
      const fake = await slaves(request => { if (fake.requests.length > 1) answerAddress(request) }, { rtu: true })
      const device = open(fake, { ...rtu, timeoutMs: TIMEOUT_MS })
      expect(await failure(read(device, 1))).to.include({ code: 'SLUICE_MODBUS_TIMEOUT' })
      setTimeout(() => fake.requests[0].reply(666), 0.5 * TIMEOUT_MS)
      expect(await readAtLast(device, 2)).to.deep.equal([2])
      expect(device.said.join('\n')).to.contain(`answers after its timeout of ${TIMEOUT_MS} ms. Make that longer.`)
      const [first, second] = fake.requests
      expect(second.atMs - first.atMs).to.be.at.least(3.4 * TIMEOUT_MS)
    })
  })

  describe('hears from the device', () => {
    it('that it refuses', async () => {
      const device = open(await slaves(request => { request.socket.write(request.frame([0x83, 2])) }))
      const error = await failure(read(device))
      expect(error).to.include({ code: 'SLUICE_MODBUS_EXCEPTION' })
      expect(error.message).to.match(/^Unit 1 at .* refused with exception 2 \(illegal address\)\.$/)
      expect(error.details).to.deep.equal({ quality: 'exception 2', exception: 2 })
      expect(device.health).to.include({ state: 'good', exceptions: 1, lastGoodMs: null })
    })

    it('that it is busy, and repeats the request', async () => {
      const fake = await slaves(request => {
        if (fake.requests.length === 1) request.socket.write(request.frame([0x83, 6]))
        else answerAddress(request)
      })
      const device = open(fake)
      expect(await read(device, 5)).to.deep.equal([5])
      expect(device.health).to.include({ requests: 2, retries: 1, exceptions: 0 })
    })

    it('that it stays busy, and reports it after the configured retries', async () => {
      const device = open(await slaves(request => { request.socket.write(request.frame([0x83, 6])) }), { busyRetries: 1 })
      expect((await failure(read(device))).details).to.deep.equal({ quality: 'exception 6', exception: 6 })
      expect(device.health).to.include({ requests: 2, retries: 1, exceptions: 1 })
    })

    it('through a gateway that it does not answer: it backs off as after a timeout', async () => {
      const device = open(await slaves(request => { request.socket.write(request.frame([0x83, 11])) }), { firstRetryMs: 5000 })
      expect((await failure(read(device))).details).to.deep.equal({ quality: 'exception 11', exception: 11 })
      expect(device.health.state).to.equal('silent')
      const error = await failure(read(device))
      expect(error).to.include({ code: 'SLUICE_MODBUS_SILENT' })
      expect(error.details.quality).to.equal('silent')
      expect(error.details.retryInMs).to.be.within(1, 5000)
    })
  })

  describe('loses the connection', () => {
    it('in the middle of a reply, and opens another', async () => {
      const fake = await slaves(request => {
        if (request.connection > 1) return answerAddress(request)
        request.socket.end(request.frame(registersPdu(3, [1])).subarray(0, 8))
      })
      const device = open(fake)
      const error = await failure(read(device))
      expect(error).to.include({ code: 'SLUICE_MODBUS_DISCONNECTED' })
      expect(error.details.quality).to.equal('disconnected')
      expect(device.health).to.include({ state: 'disconnected', disconnects: 1 })
      expect(await readAtLast(device, 9)).to.deep.equal([9])
      expect(device.said.at(-1)).to.match(/answers again\.$/)
    })

    it('to a device that does not speak Modbus', async () => {
      const fake = await slaves(request => {
        if (request.connection > 1) return answerAddress(request)
        request.socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')
      })
      const device = open(fake)
      expect(await failure(read(device))).to.include({ code: 'SLUICE_MODBUS_REPLY' })
      expect(await readAtLast(device, 9)).to.deep.equal([9])
    })

    it('that is half open: nothing is received any more', async () => {
      const fake = await slaves(request => { if (request.connection > 1) answerAddress(request) })
      const device = open(fake, { timeoutMs: TIMEOUT_MS })
      expect(await readAtLast(device, 9)).to.deep.equal([9])
      expect(device.health.timeouts).to.be.at.least(3)
      expect(device.health.disconnects).to.be.at.least(1)
    })

    it('to a server that stops and starts five times', async () => {
      let fake = await slaves(answerAddress)
      const device = open(fake)
      for (let round = 0; round < 5; round++) {
        expect(await readAtLast(device, round)).to.deep.equal([round])
        await fake.close()
        expect(await failure(read(device))).to.include({ code: 'SLUICE_MODBUS_DISCONNECTED' })
        fake = await slaves(answerAddress, { port: fake.port })
      }
      expect(await readAtLast(device, 6)).to.deep.equal([6])
      expect(device.health.disconnects).to.equal(5)
    })

    it('and pauses longer each time without a good reply', async () => {
      const fake = await slaves(request => request.socket.destroy())
      const device = open(fake)
      while (fake.requests.length < 5) await failure(read(device)).then(() => sleep(2))
      expect(fake.requests[4].atMs - fake.requests[0].atMs).to.be.at.least(0.8 * (5 + 10 + 20 + 40))
    })
  })

  it('pauses after connecting and between requests as configured', async () => {
    const fake = await slaves(answerAddress)
    const device = open(fake, { pauseAfterConnectMs: 30, pauseBetweenMs: 20 })
    const startedMs = performance.now()
    await Promise.all([read(device), read(device)])
    expect(fake.requests[0].atMs - startedMs).to.be.at.least(29)
    expect(fake.requests[1].atMs - fake.requests[0].atMs).to.be.at.least(19)
  })

  it('reports the time of the last answer by a clock that is never set', async () => {
    const device = open(await slaves(answerAddress))
    const { line } = wallClock
    wallClock.line = new TimeLine(-86_400_000_000_000n)
    try {
      await read(device)
    } finally {
      wallClock.line = line
    }
    expect(device.health.lastGoodMs).to.be.closeTo(Number(systemClock.nowNs() / 1_000_000n), 60_000)
  })

  it('connects to an IPv6 address, however that is written', async () => {
    const fake = await slaves(answerAddress, { host: '::1' })
    for (const host of ['::1', '[::1]', ' ::1 ']) expect(await read(open(fake, { host }), 8)).to.deep.equal([8])
  })

  it('limits how many requests wait', async () => {
    const device = open(await slaves(() => {}))
    const waiting = Array.from({ length: 1002 }, () => failure(read(device)))
    expect((await waiting[1001]).details).to.deep.equal({ quality: 'busy' })
    expect(device.health.queued).to.be.within(999, 1000)
    await device.close()
    const codes = await Promise.all(waiting.map(async error => (await error).code))
    expect(new Set(codes)).to.deep.equal(new Set(['SLUICE_MODBUS_CLOSED', 'SLUICE_MODBUS_BUSY']))
    expect(await failure(read(device))).to.include({ code: 'SLUICE_MODBUS_CLOSED' })
  })

  it('drops a request whose caller aborts it', async () => {
    const fake = await slaves(request => setTimeout(() => answerAddress(request), 10))
    const device = open(fake)
    const [onItsWay, waiting] = [new AbortController(), new AbortController()]
    const errors = [onItsWay, waiting].map(({ signal }, i) => failure(device.read('holding-registers', i, 1, { signal })))
    while (fake.requests.length === 0) await new Promise(setImmediate)
    onItsWay.abort(new Error('changed my mind'))
    waiting.abort(new Error('me too'))
    expect((await Promise.all(errors)).map(({ message }) => message)).to.deep.equal(['changed my mind', 'me too'])
    expect(await read(device, 2)).to.deep.equal([2])
    expect(fake.requests.map(({ address }) => address)).to.deep.equal([0, 2])
    expect(await failure(device.read('holding-registers', 1, 1, { signal: waiting.signal }))).to.include({ message: 'me too' })
  })

  it('settles every request, whatever arrives', async () => {
    let word = 1
    const below = (/** @type {number} */ most) => ((word = Math.imul(word, 1_103_515_245) + 12_345 >>> 0) >>> 16) % most
    for (const connection of ['tcp', 'rtu-over-tcp']) {
      const fake = await slaves(request => {
        const frame = request.frame(registersPdu(3, [1]))
        if (below(4) === 0) frame[below(frame.length)] = below(256)
        request.socket.write(below(8) ? frame : frame.subarray(0, below(frame.length)))
      }, { rtu: connection !== 'tcp' })
      const device = open(fake, { connection, timeoutMs: 10, longestRetryMs: 100 })
      const outcomes = new Set()
      while (device.health.requests < 40) {
        outcomes.add(await read(device).then(([value]) => value, ({ code }) => code))
        if (device.health.state !== 'good') await sleep(2)
      }
      expect([...outcomes]).to.include.members([1, 'SLUICE_MODBUS_REPLY', 'SLUICE_MODBUS_SILENT'])
      if (connection !== 'tcp') expect([...outcomes].filter(outcome => typeof outcome === 'number')).to.deep.equal([1])
      await device.close()
    }
  })

  it('leaves nothing behind when it is closed', async () => {
    const fake = await slaves(() => {})
    const device = open(fake)
    const asked = failure(read(device))
    while (fake.requests.length === 0) await new Promise(setImmediate)
    const gone = once(fake.requests[0].socket, 'close')
    await Promise.all([device.close(), device.close()])
    expect(await asked).to.include({ code: 'SLUICE_MODBUS_CLOSED' })
    await gone
  })
})

/** @param {{message: string}} error */
function placeOf ({ message }) {
  return /at (\S+)/.exec(message)?.[1]
}
