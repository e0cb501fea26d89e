import { schema as sink } from '../../gateway/databases/mongodb/sink.schema.js'
import { schema as writer } from '../../gateway/writer/schema.js'
import { nodeSchema } from '../schema.js'
import { serverOption, sinkName } from './sink.schema.js'

/** A time-series collection has an index of its own. */
const indexOption = { properties: { index: { ...sink.properties.index, 'x-when': { layout: ['wide', 'narrow', 'document', 'upsert'] } } } }

export const schema = nodeSchema(sinkName, serverOption('sluice-mongodb-server'), sink, indexOption, writer)
