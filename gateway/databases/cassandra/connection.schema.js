import { connectionSchema } from '../connecting/schema.js'

/** How to reach a Cassandra cluster. */
export const schema = connectionSchema({
  title: 'Cassandra server',
  description: 'A Cassandra cluster and a keyspace in it, with the login: shared by sinks and queries.',
  properties: {
    host: {
      title: 'Hosts',
      description: 'Names or addresses of one or more nodes, with commas between them. The others are found through them.'
    },
    port: { description: 'TCP port of CQL, the same on all nodes.', default: 9042 },
    dataCenter: {
      type: 'string',
      title: 'Data centre',
      description: 'The one whose nodes are used, where the cluster has several. Empty uses the nodes of all of them.',
      default: '',
      'x-labels': { '': 'all' },
      'x-advanced': true
    },
    database: {
      title: 'Keyspace',
      description: 'The keyspace of the tables. Where it is missing and the user may create it, it is created with as many replicas as ' +
        'there are nodes, but no more than three.',
      pattern: '^\\w{1,48}$'
    },
    user: { description: 'Needs the permissions to select, modify, create and alter in the keyspace. Empty where there is no login.' },
    password: {},
    tls: {},
    ca: {}
  }
})
