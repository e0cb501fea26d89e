import { schema as read } from '../../gateway/modbus/source.js'
import { nodeSchema } from '../schema.js'
import { sourceSchema } from '../sources/source.schema.js'
import { deviceOption } from './device.option.js'

export const schema = sourceSchema(nodeSchema(deviceOption, read))
