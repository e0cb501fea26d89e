import { connectionSchema, LENT_CONNECTIONS } from '../connecting/schema.js'

/** How to reach a MySQL or MariaDB server. */
export const schema = connectionSchema({
  title: 'MySQL server',
  description: 'A MySQL or MariaDB server and database, with the login: shared by sinks and queries.',
  properties: {
    host: { description: 'Name or address of the server, or the path of its Unix socket.' },
    port: { default: 3306 },
    database: {},
    user: {
      description: 'Needs the rights to select, insert, update and delete and to lock tables, and to create and alter tables where ' +
        'they are to be created.',
      default: 'sluice'
    },
    password: {},
    tls: {},
    ca: {},
    weakLogin: {
      description: 'Also encrypts the password, without TLS, with a key that the server sends, as logins with SHA-2 may need: whoever ' +
        'answers in its place gets it.'
    },
    connections: LENT_CONNECTIONS
  }
})
