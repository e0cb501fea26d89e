/** Options of the PostgreSQL sink. */
export const schema = {
  type: 'object',
  title: 'PostgreSQL',
  description: 'Stores batches in PostgreSQL by binary COPY, each sample exactly once.',
  additionalProperties: false,
  properties: {
    host: {
      type: 'string',
      title: 'Host',
      description: 'Name or address of the server, or the folder of its Unix socket.',
      minLength: 1,
      default: '127.0.0.1'
    },
    port: {
      type: 'integer',
      title: 'Port',
      description: 'TCP port of the server.',
      minimum: 1,
      maximum: 65535,
      default: 5432
    },
    database: {
      type: 'string',
      title: 'Database',
      description: 'The database to store in. It must exist.',
      minLength: 1,
      default: 'postgres'
    },
    user: {
      type: 'string',
      title: 'User',
      description: 'Needs the rights to insert, and to create tables where they are to be created.',
      default: 'postgres',
      'x-secret': true
    },
    password: {
      type: 'string',
      title: 'Password',
      description: 'Password of the user. Leave empty where the server asks for none.',
      default: '',
      'x-secret': true
    },
    table: {
      type: 'string',
      title: 'Table',
      description: 'The table to store in; {source} in it stands for the name of the source. Created when missing, and columns are added as fields appear: ' +
        'time (timestamptz, rounded down to microseconds), time_ns (bigint, the exact nanoseconds since 1970 UTC), one column per tag and field, ' +
        'and source where all share a table. What is missing becomes NULL.',
      minLength: 1,
      default: '{source}'
    },
    schema: {
      type: 'string',
      title: 'Schema',
      description: 'The schema of the tables. Created when missing.',
      minLength: 1,
      default: 'public',
      'x-advanced': true
    },
    index: {
      type: 'string',
      title: 'Index',
      description: 'The index on time of a table that the sink creates: btree finds single times fastest, brin is tiny and slows writing least, none leaves it to you.',
      enum: ['btree', 'brin', 'none'],
      default: 'btree',
      'x-advanced': true
    },
    connections: {
      type: 'integer',
      title: 'Connections',
      description: 'Most connections to the server at a time. One batch is written on each.',
      minimum: 1,
      maximum: 16,
      default: 2,
      'x-unit': 'connections',
      'x-advanced': true
    },
    tls: {
      type: 'string',
      title: 'TLS',
      description: 'off sends everything readable, password exchange excepted; require encrypts without checking who answers; verify also checks the server\'s certificate and name.',
      enum: ['off', 'require', 'verify'],
      default: 'off'
    },
    ca: {
      type: 'string',
      title: 'CA certificate',
      description: 'The certificate authority to trust, as PEM text or as the path of a PEM file. Empty trusts the public ones.',
      default: '',
      'x-when': { tls: 'verify' }
    }
  }
}
