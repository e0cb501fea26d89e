/** How to reach a MySQL or MariaDB server. */
export const schema = {
  type: 'object',
  title: 'MySQL server',
  description: 'A MySQL or MariaDB server and database, with the login: shared by sinks and queries.',
  additionalProperties: false,
  properties: {
    host: {
      type: 'string',
      title: 'Host',
      description: 'Name or address of the server, or the path of its Unix socket.',
      minLength: 1,
      default: '127.0.0.1'
    },
    port: {
      type: 'integer',
      title: 'Port',
      description: 'TCP port of the server.',
      minimum: 1,
      maximum: 65535,
      default: 3306
    },
    database: {
      type: 'string',
      title: 'Database',
      description: 'The database. It must exist.',
      minLength: 1,
      default: 'sluice'
    },
    user: {
      type: 'string',
      title: 'User',
      description: 'Needs the rights to select, insert, update and delete and to lock tables, and to create and alter tables where ' +
        'that is to be done.',
      default: 'sluice',
      'x-secret': true
    },
    password: {
      type: 'string',
      title: 'Password',
      description: 'Password of the user. Leave empty where the server asks for none.',
      default: '',
      'x-secret': true
    },
    tls: {
      type: 'string',
      title: 'TLS',
      description: 'off sends everything readable, password exchange excepted; require encrypts without checking who answers; verify ' +
        'also checks the server\'s certificate and name.',
      enum: ['off', 'require', 'verify'],
      'x-labels': { off: 'off: nothing is encrypted', require: 'require: encrypted, server unchecked', verify: 'verify: encrypted, server checked' },
      default: 'off'
    },
    ca: {
      type: 'string',
      title: 'CA certificate',
      description: 'The certificate authority to trust, as PEM text or as the path of a PEM file. Empty trusts the public ones.',
      default: '',
      'x-when': { tls: 'verify' }
    },
    connections: {
      type: 'integer',
      title: 'Connections',
      description: 'Most connections to the server at a time, of all sinks and queries together. One batch is written on each; ' +
        'queries leave one to the sinks.',
      minimum: 2,
      maximum: 64,
      default: 4,
      'x-advanced': true
    }
  }
}
