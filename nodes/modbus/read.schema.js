import { schema as read } from '../../gateway/sources/modbus.js'
import { nodeSchema } from '../schema.js'
import { sourceSchema } from '../sources/source.schema.js'
import { deviceOption } from './device.option.js'

export const schema = sourceSchema(nodeSchema(deviceOption, read))
