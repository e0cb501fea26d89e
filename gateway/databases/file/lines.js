import { encodeLines } from '../../messages/codecs/line-protocol/line-protocol.js'

const CHUNK_BYTES = 2 ** 20

/**
 * InfluxDB line protocol. Lines say themselves what they are, so a file takes any.
 * @type {import('./formats.js').Format}
 */
export const lines = {
  ending: 'lp',
  ownLayouts: ['narrow'],
  fits: () => true,
  head: () => Buffer.alloc(0),
  encode: (_columns, pieces, { layout }) => [...encodeLines(pieces.map(({ batch }) => ({ batch, narrow: layout === 'narrow' })), { chunkBytes: CHUNK_BYTES })]
}
