import { schema as server } from '../../gateway/databases/hana/connection.schema.js'
import { nodeSchema } from '../schema.js'

export const schema = nodeSchema(server, {
  properties: { ca: { ...server.properties.ca, 'x-pem': true } }
})
