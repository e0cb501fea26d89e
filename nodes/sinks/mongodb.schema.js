import { schema as sink } from '../../gateway/databases/mongodb/sink.schema.js'
import { schema as writer } from '../../gateway/writer/schema.js'
import { nodeSchema } from '../schema.js'
import { serverOption, sinkName } from './sink.schema.js'

const { index, layout: { enum: layouts } } = sink.properties

/** A time-series collection has an index of its own. */
const indexOption = { properties: { index: { ...index, 'x-when': { layout: layouts.filter(layout => layout !== 'timeseries') } } } }

export const schema = nodeSchema(sinkName, serverOption('sluice-mongodb-server'), sink, indexOption, writer)
