import { schema as playback } from '../../gateway/can/candump/player.js'
import { sourceSchema } from './source.schema.js'

export const schema = sourceSchema(playback)
