import { schema as sink } from '../../gateway/databases/influxdb/sink.schema.js'
import { schema as writer } from '../../gateway/writer/schema.js'
import { nodeSchema } from '../schema.js'
import { seldom, serverOption, sinkName } from './sink.schema.js'

export const schema = nodeSchema(sinkName, serverOption('sluice-influxdb-server'), sink, writer, seldom(writer))
