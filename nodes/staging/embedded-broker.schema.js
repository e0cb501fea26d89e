import { schema as embedded } from '../../broker/embedded/embedded.js'
import { nodeSchema } from '../schema.js'

export const schema = nodeSchema(embedded)
