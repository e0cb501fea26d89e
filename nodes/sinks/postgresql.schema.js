import { schema as sink } from '../../gateway/databases/postgresql/sink.schema.js'
import { schema as writer } from '../../gateway/writer/schema.js'
import { nodeSchema } from '../schema.js'
import { layoutOption, serverOption, sinkName } from './sink.schema.js'

export const schema = nodeSchema(sinkName, serverOption('sluice-postgresql-server'), sink, layoutOption(sink), writer)
