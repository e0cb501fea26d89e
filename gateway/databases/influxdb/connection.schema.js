/** How to reach an InfluxDB server. */
export const schema = {
  type: 'object',
  title: 'InfluxDB server',
  description: 'An InfluxDB server and database, with the login: shared by sinks and queries.',
  additionalProperties: false,
  properties: {
    version: {
      type: 'string',
      title: 'Version',
      description: 'Of the server. 1 is tested against real servers; 2 and 3 only by the requests that their documentation asks for.',
      enum: ['1', '2', '3'],
      'x-labels': { 1: '1.x', 2: '2.x', 3: '3.x' },
      default: '1'
    },
    host: {
      type: 'string',
      title: 'Host',
      description: 'Name or address of the server.',
      minLength: 1,
      default: '127.0.0.1'
    },
    port: {
      type: 'integer',
      title: 'Port',
      description: 'TCP port of the server\'s HTTP: 8086 as a rule, 8181 of version 3.',
      minimum: 1,
      maximum: 65535,
      default: 8086
    },
    database: {
      type: 'string',
      title: 'Database or bucket',
      description: 'The database; of version 2 the bucket, which must exist. A database is created when missing, where the user may ' +
        'do that.',
      minLength: 1,
      default: 'sluice'
    },
    organisation: {
      type: 'string',
      title: 'Organisation',
      description: 'The name of the organisation that the bucket belongs to.',
      default: '',
      'x-when': { version: '2' }
    },
    user: {
      type: 'string',
      title: 'User',
      description: 'Needs the rights to write and read. Leave empty where the server asks for none.',
      default: '',
      'x-secret': true,
      'x-when': { version: '1' }
    },
    password: {
      type: 'string',
      title: 'Password or token',
      description: 'The password of the user; of versions 2 and 3 the API token, which may read and write.',
      default: '',
      'x-secret': true
    },
    tls: {
      type: 'string',
      title: 'TLS',
      description: 'off sends everything readable, passwords included; require encrypts without checking who answers; verify also ' +
        'checks the server\'s certificate and name.',
      enum: ['off', 'require', 'verify'],
      'x-labels': { off: 'off: nothing is encrypted', require: 'require: encrypted, server unchecked', verify: 'verify: encrypted, server checked' },
      default: 'off'
    },
    ca: {
      type: 'string',
      title: 'CA certificate',
      description: 'The certificate authority to trust, as PEM text or as the path of a PEM file. Empty trusts the public ones.',
      default: '',
      'x-when': { tls: 'verify' }
    },
    compression: {
      type: 'string',
      title: 'Compression',
      description: 'Whether what is written is compressed by gzip: to a tenth of the bytes, for much of a processor\'s time. remote: ' +
        'not where the server is on this machine.',
      enum: ['remote', 'always', 'never'],
      'x-labels': { remote: 'remote: unless on this machine', always: 'always', never: 'never' },
      default: 'remote',
      'x-advanced': true
    },
    connections: {
      type: 'integer',
      title: 'Connections',
      description: 'Most requests to the server at a time, of all sinks and queries together.',
      minimum: 1,
      maximum: 64,
      default: 4,
      'x-advanced': true
    },
    udpPort: {
      type: 'integer',
      title: 'UDP port',
      description: 'Where the server listens for datagrams ([[udp]] in its configuration, with precision "n" and this database), for ' +
        'sinks that send by UDP.',
      minimum: 1,
      maximum: 65535,
      default: 8089,
      'x-when': { version: '1' },
      'x-advanced': true
    }
  }
}
