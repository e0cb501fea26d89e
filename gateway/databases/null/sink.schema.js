/** Options of the null sink: none. */
export const schema = {
  type: 'object',
  title: 'Null',
  description: 'Stores nothing: batches are counted and thrown away.',
  additionalProperties: false,
  properties: {}
}
