import { ModbusServer } from './modbus-server.js'

/**
 * pymodbus' server. It drops all but the first of several requests that come in one segment. Call `requirePython` first.
 * @param {import('./modbus-server.js').ModbusServerOptions} options
 */
export const startPymodbus = options => ModbusServer.start('modbus_server.py', options)
