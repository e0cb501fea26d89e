import { schema as write } from '../../gateway/can/write.js'
import { nodeSchema } from '../schema.js'
import { busOption } from './bus.option.js'

export const schema = nodeSchema(busOption, write)
