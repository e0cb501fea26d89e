import { schema as sink } from '../../gateway/databases/clickhouse/sink.schema.js'
import { schema as writer } from '../../gateway/writer/schema.js'
import { nodeSchema } from '../schema.js'
import { layoutOption, seldom, serverOption, sinkName } from './sink.schema.js'

export const schema = nodeSchema(sinkName, serverOption('sluice-clickhouse-server'), sink, layoutOption(sink), writer, seldom(writer))
