import { schema as simulator } from '../../gateway/modbus/simulator/schema.js'
import { nodeSchema } from '../schema.js'

export const schema = nodeSchema(simulator)
