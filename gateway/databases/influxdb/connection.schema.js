import { connectionSchema } from '../connecting/schema.js'

/** How to reach an InfluxDB server. */
export const schema = connectionSchema({
  title: 'InfluxDB server',
  description: 'An InfluxDB server and database, with the login: shared by sinks and queries.',
  properties: {
    version: {
      type: 'string',
      title: 'Version',
      description: 'Of the server. 1 is tested against real servers; 2 and 3 only by the requests that their documentation asks for.',
      enum: ['1', '2', '3'],
      'x-labels': { 1: '1.x', 2: '2.x', 3: '3.x' },
      default: '1'
    },
    host: {},
    port: {
      description: 'TCP port of the server\'s HTTP interface: usually 8086, and 8181 of version 3.',
      default: 8086
    },
    database: {
      title: 'Database or bucket',
      description: 'The database; of version 2 the bucket, which must exist. A missing database is created, where the user may do that.'
    },
    organisation: {
      type: 'string',
      title: 'Organisation',
      description: 'The name of the organisation that the bucket belongs to.',
      default: '',
      'x-when': { version: '2' }
    },
    user: {
      description: 'Needs the rights to write and read. Leave empty where the server asks for none.',
      'x-when': { version: '1' }
    },
    password: {
      title: 'Password or token',
      description: 'The password of the user; of versions 2 and 3 the API token, which may read and write. Sent in plain text ' +
        'without TLS.'
    },
    tls: {},
    ca: {},
    compression: {},
    connections: { description: 'Maximum number of requests to the server at a time, of all sinks and queries together.' },
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
})
