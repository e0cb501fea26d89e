import { schema as playback } from '../../gateway/can/source/candump-playback.js'
import { sourceSchema } from './source.schema.js'

export const schema = sourceSchema(playback)
