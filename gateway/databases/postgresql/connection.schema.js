import { connectionSchema, LENT_CONNECTIONS } from '../connecting/schema.js'

/** How to reach a PostgreSQL server. */
export const schema = connectionSchema({
  title: 'PostgreSQL server',
  description: 'A PostgreSQL or TimescaleDB server and database, with the login: shared by sinks and queries.',
  properties: {
    host: { description: 'Name or address of the server, or the folder of its Unix socket.' },
    port: { default: 5432 },
    database: { default: 'postgres' },
    user: {
      description: 'Needs the rights to insert, and to create tables where they are to be created.',
      default: 'postgres'
    },
    password: {},
    tls: {},
    ca: {},
    weakLogin: {
      description: 'Also answers a server that asks, without TLS, for the password itself or its MD5 hash: whoever answers in its ' +
        'place gets them. SCRAM, the default since PostgreSQL 14, does not need this.'
    },
    connections: LENT_CONNECTIONS
  }
})
