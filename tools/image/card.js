import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onPartition } from './disk.js'
import { cardBytes, layout } from './layout.js'
import { run } from '../run.js'

/** A card for an emulator: a copy of the image, or of another card, and as large as cards are. */
export class Card {
  /** The FAT partition, which any computer can read. */
  #boot
  #folder

  /** @param {string} source @param {string} folder  where its files go @param {string} [name] */
  constructor (source, folder, name = 'card.img') {
    this.#folder = folder
    this.file = join(folder, name)
    run('cp', ['--sparse=always', '--reflink=auto', source, this.file])
    run('truncate', [`--size=${cardBytes(layout().bytes)}`, this.file])
    this.#boot = onPartition(this.file, layout().partitions.boot.startSector)
  }

  /** @returns {string[]} names at the top of the FAT partition */
  names () {
    const paths = run('mdir', ['-b', '-i', this.#boot, '::/']).split('\n').filter(Boolean)
    return paths.map(path => path.replace(/^::\//, '').replace(/\/$/, ''))
  }

  /** Of the FAT partition, while no machine runs. @param {string} name */
  read (name) {
    return run('mtype', ['-i', this.#boot, `::/${name}`])
  }

  /** @param {string} name @param {string} text */
  write (name, text) {
    const source = join(this.#folder, 'files')
    mkdirSync(source, { recursive: true })
    writeFileSync(join(source, name), text)
    run('mcopy', ['-o', '-i', this.#boot, join(source, name), `::/${name}`])
  }

  /** A copy of a file of the FAT partition for the emulator, which has no firmware to read it. @param {string} name @returns {string} */
  extract (name) {
    const file = join(this.#folder, name)
    run('mcopy', ['-n', '-o', '-i', this.#boot, `::/${name}`, file])
    return file
  }
}
