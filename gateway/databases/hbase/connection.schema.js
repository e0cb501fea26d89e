import { connectionSchema } from '../connecting/schema.js'

/** How to reach HBase. */
export const schema = connectionSchema({
  title: 'HBase server',
  description: 'The REST server of an HBase cluster and a namespace, with the login: shared by sinks and queries.',
  properties: {
    host: { description: 'Name or address of the REST server (hbase rest start), or of a gateway before it.' },
    port: { description: 'TCP port of the REST server.', default: 8080 },
    database: {
      title: 'Namespace',
      description: 'The namespace of the tables. Created when missing.',
      pattern: '^\\w{1,100}$'
    },
    user: { description: 'A user of HTTP basic authentication, which a gateway such as Knox asks for. Empty where there is no login.' },
    password: {},
    tls: {},
    ca: {},
    connections: {}
  }
})
