import { schema as bus } from '../../gateway/can/bus/bus.js'
import { nodeSchema } from '../schema.js'

export const schema = nodeSchema(bus)
