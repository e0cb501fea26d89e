const onNetwork = { connection: ['tcp', 'rtu-over-tcp'] }
const onSerial = { connection: 'rtu' }

/** How to reach one Modbus device, and what it can do. */
export const schema = {
  type: 'object',
  title: 'Modbus device',
  description: 'One device (one unit) on a network or a serial line, shared by the nodes that read and write it.',
  additionalProperties: false,
  properties: {
    connection: {
      type: 'string',
      title: 'Connection',
      description: 'RTU over TCP is for converters that pass the bytes of a serial line on unchanged; a gateway that speaks Modbus ' +
        'TCP is TCP.',
      enum: ['tcp', 'rtu', 'rtu-over-tcp'],
      'x-labels': { tcp: 'TCP', rtu: 'RTU: serial line', 'rtu-over-tcp': 'RTU over TCP' },
      default: 'tcp'
    },
    host: {
      type: 'string',
      title: 'Host',
      description: 'Name or address of the device, gateway or converter.',
      minLength: 1,
      'x-when': onNetwork,
      default: '127.0.0.1'
    },
    port: {
      type: 'integer',
      title: 'Port',
      description: 'TCP port it listens on.',
      minimum: 1,
      maximum: 65535,
      'x-when': onNetwork,
      default: 502
    },
    path: {
      type: 'string',
      title: 'Serial port',
      description: 'For example /dev/serial/by-id/…, which stays the same when adapters are plugged in another order, or COM3.',
      minLength: 1,
      'x-when': onSerial,
      default: '/dev/ttyUSB0'
    },
    baudRate: {
      type: 'integer',
      title: 'Baud rate',
      description: 'The same for all devices of a line, like the two settings below.',
      minimum: 50,
      maximum: 4000000,
      'x-unit': 'baud',
      'x-when': onSerial,
      default: 19200
    },
    parity: {
      type: 'string',
      title: 'Parity',
      description: 'Modbus asks for even parity; many devices leave the factory with none.',
      enum: ['even', 'none', 'odd'],
      'x-when': onSerial,
      default: 'even'
    },
    stopBits: {
      type: 'string',
      title: 'Stop bits',
      description: 'Modbus asks for one with a parity bit and two without; most devices without parity use one nevertheless.',
      enum: ['1', '2'],
      'x-when': onSerial,
      default: '1'
    },
    unit: {
      type: 'integer',
      title: 'Unit',
      description: 'Address of the device on its line. A device with its own network port usually answers to 1 or 255. On a ' +
        'serial line, 0 addresses all devices, and none answers.',
      minimum: 0,
      maximum: 255,
      'x-check': 'modbus-unit',
      default: 1
    },
    order: {
      type: 'string',
      title: 'Byte order',
      description: 'Of tags that have none: ABCD is most significant byte first, as in Modbus; CDAB reverses the registers of a value, ' +
        'BADC swaps the two bytes of each register, also of single ones, and DCBA does both.',
      enum: ['ABCD', 'CDAB', 'BADC', 'DCBA'],
      default: 'ABCD'
    },
    timeoutMs: {
      type: 'integer',
      title: 'Timeout',
      description: 'A device that has not answered by then counts as silent, and is asked less and less often until it answers. On a ' +
        'serial line, the transmission time of request and reply is added.',
      minimum: 10,
      maximum: 60000,
      'x-unit': 'ms',
      default: 1000
    },
    maxRegisters: {
      type: 'integer',
      title: 'Registers a request',
      description: 'The most registers that the device returns in one reply.',
      minimum: 1,
      maximum: 125,
      default: 125,
      'x-advanced': true
    },
    maxBits: {
      type: 'integer',
      title: 'Bits a request',
      description: 'The most coils or discrete inputs that the device returns in one reply.',
      minimum: 1,
      maximum: 2000,
      default: 2000,
      'x-advanced': true
    },
    maxGapRegisters: {
      type: 'integer',
      title: 'Register gap',
      description: 'The most unused registers to read in order to save a request.',
      minimum: 0,
      maximum: 124,
      default: 16,
      'x-advanced': true
    },
    maxGapBits: {
      type: 'integer',
      title: 'Bit gap',
      description: 'The most unused coils or discrete inputs to read in order to save a request.',
      minimum: 0,
      maximum: 1999,
      default: 256,
      'x-advanced': true
    },
    pauseBetweenMs: {
      type: 'integer',
      title: 'Pause between requests',
      description: 'For devices that need time between requests.',
      minimum: 0,
      maximum: 10000,
      'x-unit': 'ms',
      default: 0,
      'x-advanced': true
    },
    pauseAfterConnectMs: {
      type: 'integer',
      title: 'Pause after connecting',
      description: 'For devices and converters that are not ready immediately.',
      minimum: 0,
      maximum: 60000,
      'x-unit': 'ms',
      default: 0,
      'x-advanced': true
    },
    pipeline: {
      type: 'integer',
      title: 'Requests under way',
      description: 'How many requests may be under way at a time. More than 1 is faster where the device can handle it: some lose ' +
        'requests silently.',
      minimum: 1,
      maximum: 16,
      'x-when': { connection: 'tcp' },
      default: 1,
      'x-advanced': true
    },
    shareConnection: {
      type: 'boolean',
      title: 'Share the connection',
      description: 'Use one connection for all devices of this host and port that have this option on, as gateways to a serial line ' +
        'prefer. The devices take turns.',
      'x-when': { connection: 'tcp' },
      default: false,
      'x-advanced': true
    },
    busyRetries: {
      type: 'integer',
      title: 'Retries when busy',
      description: 'How often a request is repeated that the device refuses because it is busy (exceptions 5 and 6): after 0.1 s, ' +
        'then after twice as long each time.',
      minimum: 0,
      maximum: 10,
      default: 3,
      'x-advanced': true
    },
    writeMultiple: {
      type: 'boolean',
      title: 'Write as multiple',
      description: 'Write even a single coil or register with functions 15 and 16, for devices that support no others.',
      default: false,
      'x-advanced': true
    },
    firstRetryMs: {
      type: 'integer',
      title: 'First retry',
      description: 'The time from a lost connection or a missing answer to the next try; it doubles each time. Devices that share a ' +
        'line wait for at least two timeouts.',
      minimum: 10,
      maximum: 60000,
      'x-unit': 'ms',
      default: 100,
      'x-advanced': true
    },
    longestRetryMs: {
      type: 'integer',
      title: 'Longest retry',
      description: 'The longest time between two tries, which never end.',
      minimum: 100,
      maximum: 3600000,
      'x-unit': 'ms',
      default: 30000,
      'x-advanced': true
    }
  }
}
