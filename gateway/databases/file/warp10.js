import { encodeWarp10 } from '../../messages/codecs/warp10/encode.js'

/**
 * Warp 10's text. Each line, or the line that it continues, names its class and labels, so a file can hold any.
 * @type {import('./formats.js').Format}
 */
export const warp10 = {
  ending: 'gts',
  ownLayouts: ['wide', 'narrow', 'document'],
  fits: () => true,
  head: () => Buffer.alloc(0),
  encode (_columns, pieces, { warp10Format }) {
    return pieces.flatMap(({ batch }) => [...encodeWarp10(batch, warp10Format, { names: true })])
  }
}
