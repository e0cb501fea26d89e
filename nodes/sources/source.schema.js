import { nodeSchema } from '../schema.js'

/**
 * The options of a source node: its engine's, and when it starts.
 * @param {{properties: object}} engineSchema
 */
export function sourceSchema (engineSchema) {
  return nodeSchema(engineSchema, {
    properties: {
      autostart: {
        type: 'boolean',
        title: 'Start at once',
        description: 'Start when the flow starts. Otherwise a message starts it: payload true or "start"; false or "stop" stops it.',
        default: true
      }
    }
  })
}
