import { schema as device } from '../../gateway/modbus/device.schema.js'
import { nodeSchema } from '../schema.js'

const { dataBits, stopBits } = device.properties

/** The choices of a form are texts; the device reads them as numbers again. @param {{enum: number[], default: number}} property */
const asTexts = property => ({ ...property, enum: property.enum.map(String), default: String(property.default) })

export const schema = nodeSchema({
  properties: {
    name: {
      type: 'string',
      title: 'Name',
      description: 'What the device is called in the flow, and in the tag "device" of its batches. Empty: where it is.',
      default: ''
    }
  }
}, device, { properties: { dataBits: asTexts(dataBits), stopBits: asTexts(stopBits) } })
