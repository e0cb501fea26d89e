import { connectionSchema } from '../connecting/schema.js'

/** How to reach a MongoDB server. */
export const schema = connectionSchema({
  title: 'MongoDB server',
  description: 'A MongoDB server, replica set or cluster and a database in it, with the login: shared by sinks and queries.',
  properties: {
    url: {
      type: 'string',
      title: 'URL',
      description: 'mongodb://host:port, several hosts of a replica set separated by commas, or mongodb+srv://name; options follow ' +
        'after /? (replicaSet, authSource, authMechanism). Without user and password: they have fields of their own.',
      pattern: '^mongodb(\\+srv)?://[^/]',
      'x-check': 'mongodb-url',
      default: 'mongodb://127.0.0.1:27017'
    },
    database: { description: 'The database of the collections. MongoDB creates it when the first document is stored.' },
    user: { description: 'Needs the role readWrite on the database. Leave empty where the server asks for no login.' },
    password: { description: 'Password of the user.' },
    tls: {
      description: 'auto does what the URL says (mongodb+srv encrypts and verifies, mongodb sends everything in plain text); require ' +
        'encrypts without checking who answers; verify also checks the server\'s certificate and name.',
      enum: ['auto', 'require', 'verify'],
      'x-labels': {
        auto: 'auto: as the URL says',
        require: 'require: encrypted, server unchecked',
        verify: 'verify: encrypted, server checked'
      },
      default: 'auto'
    },
    ca: {},
    connections: {
      description: 'Maximum number of connections to each server, of all sinks and queries together. One batch is written on each.'
    }
  }
})
