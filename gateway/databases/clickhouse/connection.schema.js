/** How to reach a ClickHouse server. */
export const schema = {
  type: 'object',
  title: 'ClickHouse server',
  description: 'A ClickHouse server and database, with the login: shared by sinks and queries. Spoken to by HTTP.',
  additionalProperties: false,
  properties: {
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
      description: 'TCP port of the server\'s HTTP interface: usually 8123, and 8443 with TLS.',
      minimum: 1,
      maximum: 65535,
      default: 8123
    },
    database: {
      type: 'string',
      title: 'Database',
      description: 'The database. It must exist.',
      minLength: 1,
      default: 'default'
    },
    user: {
      type: 'string',
      title: 'User',
      description: 'Needs the rights to insert and select, and to create and alter tables where they are to be created.',
      default: 'default',
      'x-secret': true
    },
    password: {
      type: 'string',
      title: 'Password',
      description: 'Password of the user. Leave empty where the server asks for none.',
      default: '',
      'x-secret': true
    },
    tls: {
      type: 'string',
      title: 'TLS',
      description: 'off sends everything readable, the password included; require encrypts without checking who answers; verify also ' +
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
      description: 'Of what is sent. none is fastest in a local network. Over a slow line zstd sends about a quarter, and costs half ' +
        'of gzip\'s time; gzip takes its place before Node 22.15 and for servers older than 22.3.',
      enum: ['none', 'gzip', 'zstd'],
      default: 'none',
      'x-advanced': true
    },
    connections: {
      type: 'integer',
      title: 'Connections',
      description: 'Most connections to the server at a time, of all sinks and queries together. One insert is sent on each.',
      minimum: 1,
      maximum: 64,
      default: 4,
      'x-advanced': true
    }
  }
}
