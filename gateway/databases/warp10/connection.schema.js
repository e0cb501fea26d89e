import { connectionSchema } from '../connecting/schema.js'

/** How to reach a Warp 10 server. */
export const schema = connectionSchema({
  title: 'Warp 10 server',
  description: 'A Warp 10 server, with its tokens: shared by sinks and queries.',
  properties: {
    host: {},
    port: { description: 'TCP port of HTTP.', default: 8080 },
    writeToken: {
      type: 'string',
      title: 'Write token',
      description: 'Lets a sink store, and remove what is too old. Its owner and producer are the same, and it adds no label that the ' +
        'sink uses itself. Sent in plain text without TLS.',
      default: '',
      'x-secret': true
    },
    readToken: {
      type: 'string',
      title: 'Read token',
      description: 'Lets a sink and a query read what the write token has stored. Sent in plain text without TLS.',
      default: '',
      'x-secret': true
    },
    tls: {},
    ca: {},
    compression: {},
    connections: { description: 'Maximum number of requests to the server at a time, of all sinks and queries together.' }
  }
})
