import { nodeSchema } from '../schema.js'

export const schema = nodeSchema()
