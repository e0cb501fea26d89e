import { connectionSchema } from '../connecting/schema.js'

/** How to reach a VoltDB server. */
export const schema = connectionSchema({
  title: 'VoltDB server',
  description: 'A VoltDB server, with the login: shared by sinks and queries.',
  properties: {
    host: {},
    port: { description: 'TCP port of clients.', default: 21212 },
    user: {
      description: 'A user with the role administrator, or with the right to run SQL and define tables. Empty where there is no login.'
    },
    password: {},
    tls: {},
    ca: {}
  }
})
