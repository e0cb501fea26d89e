import { schema as read } from '../../gateway/can/read.js'
import { nodeSchema } from '../schema.js'
import { sourceSchema } from '../sources/source.schema.js'
import { busOption } from './bus.option.js'

export const schema = sourceSchema(nodeSchema(busOption, read))
