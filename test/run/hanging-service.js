import { execFileSync } from 'node:child_process'
import { Service } from '../../gateway/run/service.js'

// A service whose event loop turns, hangs for a while when its parent says so, and turns again.

const HANGING_MS = 1000
const environment = { ...process.env }
const tell = (/** @type {string} */ line) => execFileSync('systemd-notify', [line], { env: environment })

new Service(process.env, console.error).ready('Turns.')
process.on('message', () => {
  tell('STATUS=Hangs.')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HANGING_MS)
  tell('STATUS=Turns again.')
})
