import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openDevice } from '../../modbus/device.js'
import { openModbusRead } from '../../modbus/source.js'

const SERVER = fileURLToPath(new URL('modbus-server.js', import.meta.url))
const REGISTERS = 125
const TURNS = 3

/** More is due in every period than can be read, so that it reads without a pause. */
const SOURCES = 8
const GROUPS = 4
const TAGS_PER_GROUP = 992
const PERIOD_MS = 10

/**
 * Registers a second over loopback, one request at a time and eight: of modbus-serial in its tightest loop, which does nothing with what it
 * reads, and of *modbus read*, which builds batches of float32 values. Turn by turn; the best of each counts. Where modbus-serial is not
 * installed, `library` is 0.
 * @param {{seconds: number, progress: (text: string) => void}} options
 */
export async function benchModbus ({ seconds, progress }) {
  const modbusSerial = await import('modbus-serial').then(module => module.default, () => null)
  const server = spawn(process.execPath, [SERVER], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [said] = await once(server.stdout, 'data')
    const port = Number(said)
    const results = []
    for (const pipeline of [1, 8]) {
      progress(`modbus, ${pipeline} at a time`)
      let ours = 0
      let library = 0
      for (let turn = 0; turn < TURNS; turn++) {
        if (modbusSerial) library = Math.max(library, await measureLibrary(modbusSerial, port, pipeline, seconds))
        ours = Math.max(ours, await measureOurs(port, pipeline, seconds))
      }
      results.push({ pipeline, ours, library, ratio: ours / library })
    }
    return results
  } finally {
    server.kill()
  }
}

/**
 * @param {any} ModbusRTU  its types are those of a CommonJS module
 * @param {number} port
 * @param {number} pipeline
 * @param {number} seconds
 */
async function measureLibrary (ModbusRTU, port, pipeline, seconds) {
  const client = new ModbusRTU()
  await client.connectTCP('127.0.0.1', { port })
  client.setID(1)
  const startMs = performance.now()
  const endMs = startMs + 1000 * seconds
  let registers = 0
  await Promise.all(Array.from({ length: pipeline }, async (_, lane) => {
    for (let address = lane * REGISTERS; performance.now() < endMs; address = (address + pipeline * REGISTERS) % 60_000) {
      const { data } = await client.readHoldingRegisters(address, REGISTERS)
      registers += data.length
    }
  }))
  const perSecond = registers / (performance.now() - startMs) * 1000
  await new Promise(resolve => client.close(() => resolve(undefined)))
  return perSecond
}

/** @param {number} port @param {number} pipeline @param {number} seconds */
async function measureOurs (port, pipeline, seconds) {
  const log = { info () {}, warn () {}, error () {} }
  const device = openDevice({ connection: 'tcp', host: '127.0.0.1', port, pipeline }, { log })
  const tags = Array.from({ length: GROUPS * TAGS_PER_GROUP }, (_, i) => (
    { name: `t${i}`, area: 'holding-registers', address: String(2 * i), type: 'float32', group: `g${Math.floor(i / TAGS_PER_GROUP)}` }))
  const groups = Array.from({ length: GROUPS }, (_, i) => ({ name: `g${i}`, periodMs: PERIOD_MS }))
  let values = 0
  const sources = Array.from({ length: SOURCES }, (_, i) => openModbusRead({ name: `bench${i}`, tags, groups, batchMs: 250 }, {
    device,
    deviceName: 'bench',
    pipeline,
    log,
    isPaused: () => false,
    emit: batch => { values += batch.rows * TAGS_PER_GROUP },
    onEnd: error => { if (error) throw error }
  }))
  await sleep(500)
  const startMs = performance.now()
  const valuesBefore = values
  await sleep(1000 * seconds)
  const perSecond = 2 * (values - valuesBefore) / (performance.now() - startMs) * 1000
  for (const source of sources) await source.close()
  await device.close()
  return perSecond
}
