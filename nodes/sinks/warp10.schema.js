import { schema as sink } from '../../gateway/databases/warp10/sink.schema.js'
import { schema as writer } from '../../gateway/writer/schema.js'
import { nodeSchema } from '../schema.js'
import { serverOption, sinkName } from './sink.schema.js'

export const schema = nodeSchema(sinkName, serverOption('sluice-warp10-server'), sink, writer)
