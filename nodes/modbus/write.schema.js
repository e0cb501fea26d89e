import { schema as write } from '../../gateway/modbus/writer.js'
import { nodeSchema } from '../schema.js'
import { deviceOption } from './device.option.js'

export const schema = nodeSchema(deviceOption, write)
