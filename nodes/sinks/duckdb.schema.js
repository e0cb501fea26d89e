import { schema as sink } from '../../gateway/databases/duckdb/sink.schema.js'
import { schema as writer } from '../../gateway/writer/schema.js'
import { nodeSchema } from '../schema.js'
import { layoutOption, seldom, sinkName } from './sink.schema.js'

export const schema = nodeSchema(sinkName, sink, layoutOption(sink), writer, seldom(writer))
