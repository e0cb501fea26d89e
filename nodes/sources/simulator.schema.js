import { schema as simulator } from '../../gateway/simulators/simulator.js'
import { sourceSchema } from './source.schema.js'

export const schema = sourceSchema(simulator)
