import { connectionSchema } from '../connecting/schema.js'

/** How to reach a ClickHouse server. */
export const schema = connectionSchema({
  title: 'ClickHouse server',
  description: 'A ClickHouse server and database, with the login: shared by sinks and queries. Reached by HTTP.',
  properties: {
    host: {},
    port: {
      description: 'TCP port of the server\'s HTTP interface: usually 8123, and 8443 with TLS.',
      default: 8123
    },
    database: { default: 'default' },
    user: {
      description: 'Needs the rights to insert and select, and to create and alter tables where they are to be created.',
      default: 'default'
    },
    password: { description: 'Password of the user, sent in plain text without TLS. Leave empty where the server asks for none.' },
    tls: {},
    ca: {},
    compression: {
      type: 'string',
      title: 'Compression',
      description: 'Of what is sent. none is fastest in a local network. Over a slow line zstd sends about a quarter, and costs half ' +
        'of gzip\'s time; gzip replaces it before Node 22.15 and for servers older than 22.3.',
      enum: ['none', 'gzip', 'zstd'],
      default: 'none',
      'x-advanced': true
    },
    connections: {
      description: 'Maximum number of connections to the server, of all sinks and queries together. One insert is sent on each.'
    }
  }
})
