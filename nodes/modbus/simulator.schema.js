import { schema as simulator } from '../../gateway/simulators/modbus/schema.js'
import { nodeSchema } from '../schema.js'

export const schema = nodeSchema(simulator)
