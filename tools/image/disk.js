import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { layout, partitionTable, SECTOR_BYTES } from './layout.js'
import { run } from '../run.js'

const BLOCK_BYTES = 4096

/**
 * Writes a card without mounting anything.
 * @param {string} file
 * @param {import('./tree.js').Tree} tree
 */
export function writeDisk (file, tree) {
  const { partitions, bytes } = layout()
  rmSync(file, { force: true })
  writeFileSync(file, '')
  truncateSync(file, bytes)
  run('sfdisk', ['--quiet', file], { input: partitionTable(Object.values(partitions), randomBytes(4).toString('hex')) })
  writeFat(file, partitions.boot, tree.boot)
  writeExt4(file, partitions.root, tree.root)
  writeExt4(file, partitions.data, tree.data)
}

/** @param {string} file @param {import('./layout.js').Partition} partition @param {string} folder */
function writeFat (file, { label, startSector, sectors }, folder) {
  const kibibytes = sectors * SECTOR_BYTES / 1024
  run('mkfs.vfat', ['-F', '32', '-n', label, '-h', String(startSector), '--offset', String(startSector), file, String(kibibytes)])
  run('mcopy', ['-s', '-m', '-i', onPartition(file, startSector), ...readdirSync(folder).map(name => join(folder, name)), '::/'])
}

/**
 * Inode tables are written now, not in the background of the first start.
 * @param {string} file @param {import('./layout.js').Partition} partition @param {string} folder
 */
function writeExt4 (file, { label, startSector, sectors }, folder) {
  const extended = `offset=${startSector * SECTOR_BYTES},lazy_itable_init=0,lazy_journal_init=0`
  const blocks = sectors * SECTOR_BYTES / BLOCK_BYTES
  run('mke2fs', ['-q', '-F', '-t', 'ext4', '-b', String(BLOCK_BYTES), '-L', label, '-E', extended, '-d', folder, file, String(blocks)])
}

/** As mtools address a partition. @param {string} file @param {number} startSector */
export function onPartition (file, startSector) {
  return `${file}@@${startSector * SECTOR_BYTES}`
}
