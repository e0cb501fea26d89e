import { schema as csv } from '../../gateway/sources/csv/schema.js'
import { sourceSchema } from './source.schema.js'

export const schema = sourceSchema(csv)
