// A process that does what it is told over its channel, and measures itself meanwhile.
import { spawnSync } from 'node:child_process'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'

const BURN = 'let x = 0; while (process.cpuUsage().user / 1000 < Number(process.argv[1])) x++;' +
  'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)'
const STEP_MS = 20

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** @type {import('node:net').Socket[]} */
const sockets = []

/** @type {Record<string, (...args: any[]) => any>} */
const COMMANDS = {
  used: () => ({ cpuMs: cpuMs(), atMs: performance.now() }),
  /** From now on a share of a core, whatever else runs. @param {number} share */
  burn (share) {
    const begun = { cpuMs: cpuMs(), atMs: performance.now() }
    setInterval(() => {
      const dueMs = begun.cpuMs + (performance.now() - begun.atMs) * share
      const stopMs = performance.now() + STEP_MS
      while (cpuMs() < dueMs && performance.now() < stopMs);
    }, STEP_MS)
  },
  /** Each burns so long, one after the other. @param {number} count @param {number} ms */
  children (count, ms) {
    let total = 0
    for (let i = 0; i < count; i++) total += Number(spawnSync(process.execPath, ['-e', BURN, String(ms)], { encoding: 'utf8' }).stdout)
    return { cpuMs: total }
  },
  /** @param {number} ms */
  async thread (ms) {
    const code = 'const { workerData } = require("node:worker_threads"); const { user } = process.threadCpuUsage();' +
      'while (process.threadCpuUsage().user - user < workerData * 1000);'
    await once(new Worker(code, { eval: true, workerData: ms }), 'exit')
  },
  /** @param {string} path @param {number} bytes */
  write (path, bytes) {
    const file = openSync(path, 'w')
    for (let written = 0; written < bytes; written += 2 ** 16) writeSync(file, Buffer.alloc(2 ** 16, written / 2 ** 16))
    fsyncSync(file)
    closeSync(file)
  },
  /** Sends so much to a port, and waits for as much back. @param {number} port @param {number} bytes */
  async transfer (port, bytes) {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    socket.write(Buffer.alloc(bytes))
    const { promise, resolve } = Promise.withResolvers()
    let received = 0
    socket.on('data', chunk => { if ((received += chunk.length) >= bytes) resolve(undefined) })
    await promise
  },
  async hangUp () {
    const closed = sockets.map(socket => once(socket, 'close'))
    for (const socket of sockets.splice(0)) socket.destroy()
    await Promise.all(closed)
  }
}

process.on('message', async (/** @type {[string, ...unknown[]]} */ [command, ...args]) => {
  process.send?.(await COMMANDS[command](...args) ?? {})
})
process.send?.('ready')
