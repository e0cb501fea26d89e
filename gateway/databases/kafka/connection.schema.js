import { connectionSchema } from '../connecting/schema.js'

/** How to reach a Kafka cluster. */
export const schema = connectionSchema({
  title: 'Kafka server',
  description: 'An Apache Kafka cluster, 3.1 or newer, and the login: shared by the nodes that name it. The client needs Node 22.22 or ' +
    'newer of Node 22, or 24.6 or newer.',
  properties: {
    host: {
      title: 'Hosts',
      description: 'Names or addresses of one or more brokers, with commas between them, each with :port where it has another one. The ' +
        'others are found through them.'
    },
    port: { description: 'TCP port of the brokers that are named without one.', default: 9092 },
    login: {
      type: 'string',
      title: 'Login',
      description: 'How the brokers ask for user and password (SASL). plain sends the password as it is: only with TLS.',
      enum: /** @type {const} */ (['none', 'scram-sha-512', 'scram-sha-256', 'plain']),
      'x-labels': { none: 'none', 'scram-sha-512': 'SCRAM-SHA-512', 'scram-sha-256': 'SCRAM-SHA-256', plain: 'plain' },
      default: 'none'
    },
    user: {
      description: 'May write to the topics, read and write sluice_commits, create and describe them, and use transactional ids that ' +
        'begin with "sluice/".',
      'x-when': { login: ['scram-sha-512', 'scram-sha-256', 'plain'] }
    },
    password: { 'x-when': { login: ['scram-sha-512', 'scram-sha-256', 'plain'] } },
    tls: {},
    ca: {}
  }
})
