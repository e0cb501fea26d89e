import { schema as decode } from '../../gateway/can/decode.js'
import { nodeSchema } from '../schema.js'

export const schema = nodeSchema(decode)
