import { schema as simulator } from '../../gateway/modbus/simulator/schema.js'
import { nodeSchema } from '../schema.js'
import { schema as device } from './device.schema.js'

const { dataBits, stopBits } = device.properties

export const schema = nodeSchema(simulator, { properties: { dataBits, stopBits } })
