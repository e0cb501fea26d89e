import { schema as device } from '../../modbus/device.schema.js'
import { NUMBER_TYPES } from '../../modbus/values.js'
import { rowSchema as fault } from './fault.schema.js'
import { SHAPES } from './shapes.js'
import { UNITS_PATTERN } from '../../../resources/units.js'

const { path, baudRate, parity, stopBits } = device.properties
const onNetwork = { connection: ['tcp', 'rtu-over-tcp'] }

const row = {
  type: 'object',
  properties: {
    area: {
      type: 'string',
      title: 'Area',
      description: 'Which kind of registers or bits.',
      enum: ['holding-registers', 'input-registers', 'coils', 'discrete-inputs'],
      'x-labels': {
        'holding-registers': 'Holding registers',
        'input-registers': 'Input registers',
        coils: 'Coils',
        'discrete-inputs': 'Discrete inputs'
      },
      default: 'holding-registers'
    },
    address: { type: 'integer', title: 'Address', description: 'Of its first register, from 0.', minimum: 0, maximum: 65535, default: 0 },
    unit: {
      type: 'string',
      title: 'Units',
      description: 'The units that have it; empty for all.',
      pattern: UNITS_PATTERN,
      examples: ['1, 5-12'],
      'x-labels': { '': 'all' },
      default: ''
    },
    type: {
      type: 'string',
      title: 'Type',
      description: 'What the registers hold; whole numbers are rounded and kept within their range. A coil or discrete input is always ' +
        'a bit.',
      enum: NUMBER_TYPES,
      default: 'uint16'
    },
    order: { type: 'string', title: 'Order', description: 'Of the bytes.', enum: ['ABCD', 'CDAB', 'BADC', 'DCBA'], default: 'ABCD' },
    shape: {
      type: 'string',
      title: 'Shape',
      description: 'How the value changes. A counter and a time begin again after the highest number of their type.',
      enum: Object.keys(SHAPES),
      'x-labels': SHAPES,
      default: 'constant'
    },
    value: {
      type: 'number',
      title: 'Value',
      description: 'The constant, the first value of a counter, the middle of a sine or of random values.',
      default: 0
    },
    amplitude: {
      type: 'number',
      title: 'Amplitude',
      description: 'How far a sine or random value goes from the middle, either way.',
      minimum: 0,
      default: 1
    },
    periodS: {
      type: 'number',
      title: 'Period',
      description: 'Of a sine; from one count, or random value, to the next.',
      minimum: 0.001,
      maximum: 1_000_000,
      'x-unit': 's',
      default: 1
    }
  }
}

const defaults = Object.fromEntries(Object.entries(row.properties).map(([name, property]) => [name, property.default]))

export const schema = {
  type: 'object',
  title: 'Modbus simulator',
  description: 'Modbus devices that answer with changing values, and with faults on demand.',
  properties: {
    connection: {
      type: 'string',
      title: 'Connection',
      description: 'How it is reached. On a serial line it needs a port of its own; a pair of adapters, or of virtual ports, connects ' +
        'it with the port of the master.',
      enum: ['tcp', 'rtu', 'rtu-over-tcp'],
      'x-labels': { tcp: 'TCP', rtu: 'RTU: serial line', 'rtu-over-tcp': 'RTU over TCP' },
      default: 'tcp'
    },
    host: {
      type: 'string',
      title: 'Listen on',
      description: '127.0.0.1 is reached from this machine only, 0.0.0.0 from every network. Modbus has no passwords.',
      pattern: '^[A-Za-z0-9._:%-]+$',
      'x-when': onNetwork,
      default: '127.0.0.1'
    },
    port: {
      type: 'integer',
      title: 'Port',
      description: 'TCP port to listen on; 0 picks a free one. The port of Modbus, 502, needs administrator rights on many machines.',
      minimum: 0,
      maximum: 65535,
      'x-when': onNetwork,
      default: 1502
    },
    path,
    baudRate,
    parity,
    stopBits,
    units: {
      type: 'string',
      title: 'Units',
      description: 'The devices there are, for example 1, 3, 5-12. Others do not answer. Unit 0, unless it is one of them, addresses ' +
        'all; it is not answered.',
      minLength: 1,
      pattern: UNITS_PATTERN,
      examples: ['1, 3, 5-12'],
      'x-check': 'modbus-units',
      default: '1'
    },
    registers: {
      type: 'array',
      title: 'Registers',
      description: 'Values that change. A register or coil that is written keeps what was written.',
      maxItems: 1000,
      'x-check': 'modbus-registers',
      default: [
        { address: 0, shape: 'counter' },
        { address: 2, type: 'float32', shape: 'sine', value: 20, amplitude: 5, periodS: 60 },
        { area: 'input-registers', address: 0, type: 'int16', shape: 'random', amplitude: 100 },
        { area: 'input-registers', address: 2, type: 'uint32', shape: 'uptime' },
        { area: 'coils', address: 0, value: 1 },
        { area: 'discrete-inputs', address: 0, shape: 'counter', periodS: 5 }
      ].map(given => ({ ...defaults, ...given })),
      items: row
    },
    others: {
      type: 'string',
      title: 'Other addresses',
      description: 'What is not in the table holds 0 and can be written, or is refused with exception 2 (illegal address).',
      enum: ['zero', 'illegal'],
      'x-labels': { zero: 'Hold 0', illegal: 'Are refused' },
      default: 'zero'
    },
    faults: {
      type: 'array',
      title: 'Faults',
      description: 'What goes wrong from the start on. Each request gets the first fault that its probability selects.',
      maxItems: 100,
      'x-check': 'modbus-faults',
      default: [],
      items: fault
    },
    seed: {
      type: 'integer',
      title: 'Seed',
      description: 'Another seed gives other random values and other requests with faults.',
      minimum: 0,
      maximum: 2 ** 31 - 1,
      default: 1,
      'x-advanced': true
    }
  }
}
