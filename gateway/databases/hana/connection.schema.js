import { connectionSchema, LENT_CONNECTIONS } from '../connecting/schema.js'

/** How to reach a SAP HANA server. */
export const schema = connectionSchema({
  title: 'SAP HANA server',
  description: 'A SAP HANA server, with the login: shared by sinks and queries. No SAP HANA was met while this was built: it is tested ' +
    'with a fake server only.',
  properties: {
    host: {},
    port: {
      description: 'TCP port of SQL: 443 of SAP HANA Cloud; of a server of your own 30015, or 30013 where Database names a tenant (of ' +
        'instance 00).',
      default: 443
    },
    database: {
      title: 'Tenant',
      description: 'The tenant database. Empty for the one that listens at the port.',
      minLength: 0,
      default: '',
      'x-labels': { '': 'the one at the port' }
    },
    user: { description: 'Needs the right to create tables in its schema, where the sink stores.' },
    password: {},
    tls: { default: 'verify' },
    ca: {},
    connections: LENT_CONNECTIONS
  }
})
