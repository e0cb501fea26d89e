import { schema as connection } from '../../broker/connection/connection.js'
import { nodeSchema } from '../schema.js'

const { ca, cert, key } = connection.properties

export const schema = nodeSchema(connection, {
  properties: {
    ca: { ...ca, 'x-pem': true },
    cert: { ...cert, 'x-pem': true },
    key: { ...key, 'x-pem': true }
  }
})
