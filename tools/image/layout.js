/**
 * What lies where on the card. The boot ROM of a Raspberry Pi wants a FAT partition in a table of DOS. The data partition is the last one,
 * so that it can grow to the end of whatever card it is.
 *
 * @typedef {object} Partition
 * @property {'boot'|'root'|'data'} name
 * @property {string} label
 * @property {string} type  of a DOS table, in hexadecimal
 * @property {number} startSector
 * @property {number} sectors
 */

export const SECTOR_BYTES = 512
const MIB_SECTORS = 2 ** 20 / SECTOR_BYTES
/** What a flash card erases at once is seldom larger. */
const ALIGNED_MIB = 4

const PARTITIONS = /** @type {const} */ ([
  { name: 'boot', label: 'BOOT', type: 'c', mib: 512 },
  { name: 'root', label: 'root', type: '83', mib: 2048 },
  { name: 'data', label: 'data', type: '83', mib: 1024 }
])

/** @returns {{partitions: Record<'boot'|'root'|'data', Partition>, bytes: number}} */
export function layout () {
  let mib = ALIGNED_MIB
  const partitions = PARTITIONS.map(({ mib: sizeMib, ...partition }) => {
    const startSector = mib * MIB_SECTORS
    mib += sizeMib
    return { ...partition, startSector, sectors: sizeMib * MIB_SECTORS }
  })
  return { partitions: /** @type {any} */ (Object.fromEntries(partitions.map(it => [it.name, it]))), bytes: mib * 2 ** 20 }
}

/** What sfdisk reads. @param {Iterable<Partition>} partitions @param {string} diskId  eight hexadecimal digits */
export function partitionTable (partitions, diskId) {
  const lines = Array.from(partitions, ({ startSector, sectors, type, name }) =>
    `start=${startSector}, size=${sectors}, type=${type}${name === 'boot' ? ', bootable' : ''}`)
  return ['label: dos', `label-id: 0x${diskId}`, 'unit: sectors', ...lines, ''].join('\n')
}

/** The smallest card that holds it: their sizes are powers of two, and QEMU accepts no others. @param {number} bytes */
export function cardBytes (bytes) {
  return 2 ** Math.ceil(Math.log2(bytes))
}
