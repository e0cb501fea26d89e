import { schema as sink } from '../../gateway/databases/hana/sink.schema.js'
import { schema as writer } from '../../gateway/writer/schema.js'
import { nodeSchema } from '../schema.js'
import { serverOption, sinkName } from './sink.schema.js'

export const schema = nodeSchema(sinkName, serverOption('sluice-hana-server'), sink, writer)
