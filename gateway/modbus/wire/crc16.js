const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 0xA001 : crc >>> 1
  return crc
})

/**
 * The checksum of an RTU frame ("MODBUS over serial line" 1.02, 6.2.2); it is sent low byte first.
 * @param {Uint8Array} bytes @param {number} [start] @param {number} [end]
 */
export function crc16 (bytes, start = 0, end = bytes.length) {
  let crc = 0xFFFF
  for (let i = start; i < end; i++) crc = crc >>> 8 ^ table[(crc ^ bytes[i]) & 0xFF]
  return crc
}
