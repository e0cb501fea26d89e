import { schema as sink } from '../../gateway/sinks/postgresql/schema.js'
import { schema as writer } from '../../gateway/writer/schema.js'
import { nodeSchema } from '../schema.js'
import { sinkName } from './sink.schema.js'

// As many connections as batches in flight: the node sets it.
const own = Object.fromEntries(Object.entries(sink.properties).filter(([option]) => option !== 'connections'))

export const schema = nodeSchema(sinkName, { properties: own }, writer, {
  properties: { ca: { ...sink.properties.ca, 'x-pem': true } }
})
