import { tableProperties } from '../reading/table.js'

const { table, layout, source } = tableProperties

/** Options of reading from Warp 10. */
export const schema = {
  type: 'object',
  title: 'Warp 10',
  description: 'Reads the series that a Warp 10 sink has made, but for lists. Statistics are computed in the gateway, from the samples.',
  additionalProperties: false,
  properties: {
    table: {
      ...table,
      title: 'Label id',
      description: 'The label id of the series to read: what the sink\'s became, with {source} filled in.'
    },
    layout: { ...layout, enum: /** @type {const} */ (['wide']) },
    source
  }
}
