import { schema as replay } from '../../gateway/sources/replay.js'
import { sourceSchema } from './source.schema.js'

export const schema = sourceSchema(replay)
