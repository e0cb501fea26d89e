import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { openDevice } from '../../gateway/modbus/device.js'
import { schema } from '../../gateway/modbus/device.schema.js'
import { CONTENTS } from '../servers/modbus-server.js'
import { requireLibmodbus, startLibmodbus } from '../servers/libmodbus.js'
import { ptyPair, requirePty } from '../servers/pty.js'
import { startPymodbus } from '../servers/pymodbus.js'
import { requirePython } from '../servers/python.js'
import { failure, read, readAtLast } from './wire-rig.js'

/**
 * @typedef {import('../servers/modbus-server.js').ModbusServer} ModbusServer
 * @typedef {import('../../gateway/modbus/device.js').Device} Device
 */

const SERIAL = { connection: 'rtu', baudRate: 115_200, parity: 'none' }

const ways = [
  { server: 'pymodbus', transport: 'tcp', start: startPymodbus, require: requirePython },
  { server: 'pymodbus', transport: 'rtu-over-tcp', start: startPymodbus, require: requirePython },
  { server: 'pymodbus', transport: 'serial', start: startPymodbus, require: requirePython },
  { server: 'libmodbus', transport: 'tcp', start: startLibmodbus, require: requireLibmodbus },
  { server: 'libmodbus', transport: 'serial', start: startLibmodbus, require: requireLibmodbus }
]

for (const { server: program, transport, start, require } of ways) {
  describe(`a Modbus device (${program}, ${transport})`, () => {
    /** @type {ModbusServer} */
    let server
    /** @type {Device} */
    let device
    /** @type {Awaited<ReturnType<typeof ptyPair>>|undefined} */
    let pty

    before(async function () {
      require(this)
      if (transport === 'serial') {
        requirePty(this)
        pty = await ptyPair()
      }
      server = await start({ transport: /** @type {any} */ (transport), path: pty?.paths[0], units: [17] })
      const way = pty ? { ...SERIAL, path: pty.paths[1] } : { connection: transport, host: '127.0.0.1', port: server.port }
      device = openDevice({ ...way, unit: 17, firstRetryMs: 20 })
    })
    after(async () => {
      await device?.close()
      await server?.kill()
      await pty?.close()
    })

    it('reads all areas, up to the limit of a request', async () => {
      for (const area of /** @type {const} */ (['coils', 'discrete-inputs', 'holding-registers', 'input-registers'])) {
        const most = area.endsWith('registers') ? 125 : 2000
        for (const [address, count] of [[0, 1], [7, 9], [100, most]]) {
          expect([...await device.read(area, address, count)], area).to.deep.equal(CONTENTS[area].slice(address, address + count))
        }
      }
    })

    it('writes one value or many', async () => {
      const registers = Array.from({ length: 123 }, (_, i) => 0xFFFF - i)
      await device.write('holding-registers', 10, registers)
      await device.write('holding-registers', 11, [42])
      expect([...await device.read('holding-registers', 9, 125)]).to.deep.equal([
        CONTENTS['holding-registers'][9],
        registers[0],
        42,
        ...registers.slice(2),
        CONTENTS['holding-registers'][133]
      ])

      const coils = Array.from({ length: 1968 }, (_, i) => i % 5 === 0 ? 1 : 0)
      await device.write('coils', 3, coils)
      await device.write('coils', 4, [1])
      await device.write('coils', 3, [0])
      expect([...await device.read('coils', 2, 1970)]).to.deep.equal([CONTENTS.coils[2], 0, 1, ...coils.slice(2), CONTENTS.coils[1971]])
    })

    it('refuses addresses that do not exist, with the exception', async () => {
      expect((await failure(device.read('holding-registers', 299, 2))).details).to.deep.equal({ quality: 'exception 2', exception: 2 })
      expect((await failure(device.write('coils', 40_000, [1]))).details).to.deep.equal({ quality: 'exception 2', exception: 2 })
      expect(await read(device, 299)).to.deep.equal([CONTENTS['holding-registers'][299]])
    })

    it('receives one request for each read', async () => {
      const before = await server.requests()
      const sentBefore = device.health.requests
      await Promise.all(Array.from({ length: 20 }, (_, i) => device.read('input-registers', i, 100)))
      expect(await server.requests() - before).to.equal(20)
      expect(device.health.requests - sentBefore).to.equal(20)
      expect(device.health).to.include({ state: 'good', timeouts: 0, badReplies: 0, disconnects: 0 })
      expect(device.health.latencyMs).to.be.greaterThan(0)
      expect(device.health.lastGoodMs).to.be.closeTo(Date.now(), 60_000)
    })
  })
}

describe('a Modbus device', () => {
  it('that is killed and started again five times is read again each time', async function () {
    requireLibmodbus(this)
    const server = await startLibmodbus({ transport: 'tcp' })
    const device = openDevice({ host: '127.0.0.1', port: server.port, firstRetryMs: 10 })
    for (let round = 0; round < 5; round++) {
      expect(await readAtLast(device, round)).to.deep.equal([CONTENTS['holding-registers'][round]])
      await server.kill()
      expect(await failure(read(device))).to.include({ code: 'SLUICE_MODBUS_DISCONNECTED' })
      await server.start()
    }
    expect(await readAtLast(device, 6)).to.deep.equal([CONTENTS['holding-registers'][6]])
    expect(device.health.disconnects).to.equal(5)
    await device.close()
    await server.kill()
  })

  it('answers eight requests at a time', async function () {
    requireLibmodbus(this)
    const server = await startLibmodbus({ transport: 'tcp' })
    const device = openDevice({ host: '127.0.0.1', port: server.port, pipeline: 8 })
    const blocks = await Promise.all(Array.from({ length: 80 }, (_, i) => device.read('holding-registers', i, 125)))
    expect(blocks.map(block => [...block])).to.deep.equal(Array.from(
      { length: 80 },
      (_, i) => CONTENTS['holding-registers'].slice(i, i + 125)
    ))
    await device.close()
    await server.kill()
  })

  it('on a serial line whose adapter is pulled out and plugged in again is read again', async function () {
    requireLibmodbus(this)
    requirePty(this)
    const pty = await ptyPair()
    const server = await startLibmodbus({ transport: 'serial', path: pty.paths[0] })
    const device = openDevice({ ...SERIAL, path: pty.paths[1], firstRetryMs: 10, timeoutMs: 200 })
    expect(await read(device, 1)).to.deep.equal([CONTENTS['holding-registers'][1]])
    await pty.unplug()
    while (device.health.state !== 'disconnected') await failure(read(device)).then(() => sleep(2))
    await server.kill()
    await pty.plug()
    await server.start()
    expect(await readAtLast(device, 2)).to.deep.equal([CONTENTS['holding-registers'][2]])
    expect(device.health.disconnects).to.equal(1)
    await device.close()
    await server.kill()
    await pty.close()
  })

  it('on a serial line reports that it needs the package serialport', async () => {
    const hook = 'import { registerHooks } from "node:module"; registerHooks({ resolve (name, context, next) { ' +
      'if (name === "serialport") throw new Error("not found"); return next(name, context) } })'
    const script = `const { openDevice } = await import(${JSON.stringify(new URL('../../gateway/modbus/device.js', import.meta.url).href)})
      const device = openDevice({ connection: 'rtu' })
      await device.read('coils', 0, 1).catch(error => console.log(JSON.stringify({ code: error.code, fix: error.fix, ...error.details })))
      await device.close()`
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--import',
      `data:text/javascript,${encodeURIComponent(hook)}`,
      '--input-type=module',
      '-e',
      script
    ], {
      cwd: fileURLToPath(new URL('../..', import.meta.url))
    })
    expect(JSON.parse(stdout)).to.deep.equal({
      code: 'SLUICE_MODBUS_SERIALPORT',
      fix: 'Run "npm install serialport" in the user directory, and start again.',
      quality: 'disconnected'
    })
  })

  it('has a schema whose defaults are valid and whose limits are enforced', async () => {
    const options = Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, property.default]))
    const validate = new Ajv({ strict: false }).compile(schema)
    expect(validate(options), JSON.stringify(validate.errors)).to.equal(true)
    const device = openDevice({ port: 1, maxRegisters: 10, maxBits: 20, maxGapRegisters: 3, maxGapBits: 4 })
    expect(device.limits).to.deep.equal({ maxRegisters: 10, maxBits: 20, maxGapRegisters: 3, maxGapBits: 4 })
    expect((await failure(device.read('coils', 0, 21))).message).to.equal('The device accepts at most 20 values a request, not 21.')
    expect((await failure(device.write('holding-registers', 0, new Uint16Array(11)))).code).to.equal('SLUICE_MODBUS_REQUEST')
    await device.close()
    expect(() => openDevice({ connection: 'rtu', unit: 0 })).to.throw('Unit 0 addresses all devices')
  })
})
