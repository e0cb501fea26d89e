import { encodeLines } from '../../messages/codecs/line-protocol/line-protocol.js'

const CHUNK_BYTES = 2 ** 20

/**
 * InfluxDB line protocol. Each line names its measurement and fields, so a file can hold any.
 * @type {import('./formats.js').Format}
 */
export const lines = {
  ending: 'lp',
  ownLayouts: ['narrow'],
  fits: () => true,
  head: () => Buffer.alloc(0),
  encode (_columns, pieces, { layout }) {
    const narrow = layout === 'narrow'
    return [...encodeLines(pieces.map(({ batch }) => ({ batch, narrow })), { chunkBytes: CHUNK_BYTES })]
  }
}
