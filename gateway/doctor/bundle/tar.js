import { gzipSync } from 'node:zlib'

/** A `.tar.gz` in memory: a machine whose disk is full has nowhere else to make one. */

const BLOCK = 512
/** Of a name in a header. */
const MAX_NAME_BYTES = 100
const CHECKSUM = { at: 148, bytes: 8 }

/**
 * @param {Record<string, string>} files  texts by name
 * @param {string} folder  in which they are unpacked
 * @param {Date} time
 */
export function tarball (files, folder, time) {
  const parts = Object.entries(files).flatMap(([name, text]) => {
    const bytes = Buffer.from(text)
    return [header(`${folder}/${name}`, bytes.length, time), bytes, Buffer.alloc(-bytes.length & BLOCK - 1)]
  })
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]))
}

/** As POSIX ustar has it, numbers in octal. @param {string} name @param {number} bytes @param {Date} time */
function header (name, bytes, time) {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw new RangeError(`"${name}" is too long for a bundle`)
  const octal = (/** @type {number} */ number, /** @type {number} */ width) => `${number.toString(8).padStart(width - 1, '0')}\0`
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0)
  block.write(octal(0o600, 8) + octal(0, 8) + octal(0, 8) + octal(bytes, 12) + octal(Math.floor(time.getTime() / 1000), 12), 100)
  block.fill(' ', CHECKSUM.at, CHECKSUM.at + CHECKSUM.bytes) // which count as spaces in their own sum
  block.write('0', 156)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, CHECKSUM.at)
  return block
}
