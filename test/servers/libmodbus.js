import { execFileSync } from 'node:child_process'
import { findProgram, requireServer } from './programs.js'
import { ModbusServer } from './modbus-server.js'

/** Skips the suite where libmodbus is not installed. @param {Mocha.Context} context */
export function requireLibmodbus (context) {
  requireServer(context, 'libmodbus', isInstalled() ? null : 'libmodbus.so.5 or python3 is not installed (apt-get install libmodbus5)')
}

/**
 * A server on libmodbus, over TCP or a serial port: of one unit, on a serial port; in TCP it answers to any.
 * @param {import('./modbus-server.js').ModbusServerOptions} options
 */
export const startLibmodbus = options => ModbusServer.start('libmodbus_server.py', options)

function isInstalled () {
  const python = findProgram('python3')
  if (!python) return false
  try {
    execFileSync(python, ['-c', 'import ctypes; ctypes.CDLL("libmodbus.so.5")'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
