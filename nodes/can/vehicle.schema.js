import { schema as vehicle } from '../../gateway/simulators/vehicle/vehicle.js'
import { nodeSchema } from '../schema.js'
import { busOption } from './bus.option.js'

export const schema = nodeSchema(busOption, vehicle)
