/** How to reach a MongoDB server. */
export const schema = {
  type: 'object',
  title: 'MongoDB server',
  description: 'A MongoDB server, replica set or cluster and a database in it, with the login: shared by sinks and queries.',
  additionalProperties: false,
  properties: {
    url: {
      type: 'string',
      title: 'URL',
      description: 'mongodb://host:port, several hosts of a replica set separated by commas, or mongodb+srv://name; options follow after /? (replicaSet, authSource, authMechanism). ' +
        'Without user and password: they have fields of their own.',
      pattern: '^mongodb(\\+srv)?://',
      default: 'mongodb://127.0.0.1:27017'
    },
    database: {
      type: 'string',
      title: 'Database',
      description: 'The database of the collections. MongoDB makes it when the first document is stored.',
      minLength: 1,
      default: 'sluice'
    },
    user: {
      type: 'string',
      title: 'User',
      description: 'Needs the role readWrite on the database. Leave empty where the server asks for no login.',
      default: '',
      'x-secret': true
    },
    password: {
      type: 'string',
      title: 'Password',
      description: 'Password of the user.',
      default: '',
      'x-secret': true
    },
    tls: {
      type: 'string',
      title: 'TLS',
      description: 'auto does what the URL says (mongodb+srv encrypts and verifies, mongodb sends everything readable); require encrypts without checking who answers; ' +
        'verify also checks the server\'s certificate and name.',
      enum: ['auto', 'require', 'verify'],
      'x-labels': { auto: 'auto: as the URL says', require: 'require: encrypted, server unchecked', verify: 'verify: encrypted, server checked' },
      default: 'auto'
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
      description: 'Most connections to each server at a time, of all sinks and queries together. One batch is written on each.',
      minimum: 1,
      maximum: 64,
      default: 4,
      'x-advanced': true
    }
  }
}
