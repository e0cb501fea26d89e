import { schema as simulator } from '../../gateway/sources/simulator.js'
import { sourceSchema } from './source.schema.js'

export const schema = sourceSchema(simulator)
