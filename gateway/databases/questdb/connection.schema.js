import { connectionSchema } from '../connecting/schema.js'

/** How to reach a QuestDB server. */
export const schema = connectionSchema({
  title: 'QuestDB server',
  description: 'A QuestDB server, with the login: shared by sinks and queries.',
  properties: {
    host: {},
    port: { description: 'TCP port of HTTP.', default: 9000 },
    user: { description: 'A user of HTTP. Empty where there is no login.' },
    password: {},
    tls: {},
    ca: {},
    connections: {}
  }
})
