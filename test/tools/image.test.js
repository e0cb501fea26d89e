import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { packageNames } from '../../tools/image/base.js'
import { cardBytes, layout, partitionTable } from '../../tools/image/layout.js'
import { commandLine } from '../../tools/image/machine.js'
import { readOptions } from '../../tools/image/options.js'
import { judge } from '../../tools/image/stop-checks.js'
import { MAGIC, readLog, replay, survivors } from '../../tools/image/write-log.js'

describe('Image', () => {
  describe('partitions', () => {
    it('follow each other at whole multiples of 4 MiB, the data last and to the end', () => {
      const { partitions, bytes } = layout()
      const all = Object.values(partitions)
      let next = 4 * 2048
      for (const { startSector, sectors } of all) {
        expect(startSector).to.equal(next)
        expect(startSector % (4 * 2048)).to.equal(0)
        next += sectors
      }
      expect(all.map(({ name }) => name)).to.deep.equal(['boot', 'root', 'data'])
      expect(bytes).to.equal(next * 512)
    })

    it('are written as sfdisk reads them, the first one FAT and bootable', () => {
      const { boot, root } = layout().partitions
      expect(partitionTable([boot, root], '0123abcd').split('\n')).to.deep.equal([
        'label: dos',
        'label-id: 0x0123abcd',
        'unit: sectors',
        `start=8192, size=${boot.sectors}, type=c, bootable`,
        `start=${8192 + boot.sectors}, size=${root.sectors}, type=83`,
        ''
      ])
    })

    it('fit on a card, whose size is a power of two', () => {
      expect([1, 2 ** 30, 2 ** 30 + 1, 3 * 2 ** 30].map(cardBytes)).to.deep.equal([1, 2 ** 30, 2 ** 31, 2 ** 32])
    })
  })

  describe('options', () => {
    it('are those of a build unless they say otherwise', () => {
      expect(readOptions([])).to.deep.equal({
        help: false,
        task: 'build',
        times: 0,
        payload: undefined,
        out: 'dist/sluice-raspberry-pi.img',
        machine: 'virt',
        memoryMib: 1024
      })
      expect(readOptions(['--boot-test', '--machine', 'raspi3b'])).to.include({ task: 'boot-test', machine: 'raspi3b' })
      expect(readOptions(['--power-cuts', '5', '--memory', '512'])).to.include({ task: 'power-cuts', times: 5, memoryMib: 512 })
    })

    const refused = /** @type {[string[], RegExp][]} */ ([
      [['--machine', 'raspi5'], /virt or raspi3b/],
      [['--memory', '1G'], /--memory must be a whole number/],
      [['--hard-stops', '0'], /--hard-stops must be/],
      [['--boot-test', '--power-cuts', '3'], /exclude each other/],
      [['--sd'], /Unknown option/]
    ])
    for (const [args, reason] of refused) {
      it(`refuse ${args.join(' ')}`, () => expect(() => readOptions(args)).to.throw(reason))
    }
  })

  it('reads a list of packages without its comments', () => {
    expect(packageNames('# boots\nudev\n\n  kmod   # modules\n')).to.deep.equal(['udev', 'kmod'])
  })

  it('starts an emulator as the card says, on its own console', () => {
    expect(commandLine('console=tty0 console=ttyS1,115200 root=LABEL=root rw fsck.repair=yes\n', 'ttyAMA0'))
      .to.equal('root=LABEL=root rw fsck.repair=yes console=ttyAMA0')
  })

  describe('a power cut', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-image-'))
    after(() => rmSync(folder, { recursive: true }))
    const [FLUSH, FUA, DISCARD] = [1n, 2n, 4n]

    /** @param {{sector?: number, flags?: bigint, fill?: string, sectors?: number}[]} entries  a sector each where they have a fill */
    function writeLog (entries) {
      const parts = [Buffer.alloc(512)]
      parts[0].writeBigUInt64LE(MAGIC, 0)
      parts[0].writeUInt32LE(512, 24)
      for (const { sector = 0, flags = 0n, fill, sectors = fill ? 1 : 0 } of entries) {
        const header = Buffer.alloc(512)
        header.writeBigUInt64LE(BigInt(sector), 0)
        header.writeBigUInt64LE(BigInt(sectors), 8)
        header.writeBigUInt64LE(flags, 16)
        parts.push(header)
        if (fill) parts.push(Buffer.alloc(512, fill))
      }
      const file = join(folder, 'log')
      writeFileSync(file, Buffer.concat(parts))
      return file
    }

    /** What a disk of six sectors has afterwards, a letter each. @param {string} file @param {ReturnType<typeof readLog>} log */
    function disk (file, log) {
      const path = join(folder, 'disk')
      writeFileSync(path, Buffer.alloc(6 * 512, '.'))
      replay(file, path, log)
      return readFileSync(path, 'latin1').match(/.{512}/gs)?.map(sector => sector[0]).join('')
    }

    const entries = [
      { sector: 0, fill: 'a' }, { sector: 1, fill: 'b' }, { flags: FLUSH }, { sector: 1, fill: 'c' }, { sector: 2, flags: FUA, fill: 'd' },
      { sector: 5, sectors: 4, flags: DISCARD }, { sector: 3, fill: 'e' }
    ]

    it('loses what was not flushed, and keeps what was asked to be on the disk at once', () => {
      const file = writeLog(entries)
      const log = readLog(file)
      expect(log.entries).to.have.length(7)
      expect(disk(file, { ...log, entries: survivors(log.entries, () => false) })).to.equal('abd...')
    })

    it('loses any part of what was not flushed', () => {
      const file = writeLog(entries)
      const log = readLog(file)
      expect(disk(file, { ...log, entries: survivors(log.entries, () => true) })).to.equal('acde..')
      let turn = 0
      expect(disk(file, { ...log, entries: survivors(log.entries, () => turn++ === 1) })).to.equal('abde..')
    })

    it('ends the log where it was cut', () => {
      const file = writeLog(entries)
      const { endsAt } = readLog(file).entries[1]
      expect(readLog(file, endsAt + 511).entries).to.have.length(2)
      expect(readLog(file, endsAt + 512).entries).to.have.length(3)
    })
  })

  describe('a stop', () => {
    /** @param {number[]} counts @param {number} [ms] */
    const rows = (counts, ms = 5000) => counts.map(count => {
      const data = Buffer.alloc(8)
      data.writeUInt32LE(count)
      return `${data.toString('hex').toUpperCase()}|${ms}000000`
    })

    it('may cost the last interval', () => {
      expect(judge(rows([0, 1, 2]), 6000)).to.equal('3 rows without a gap, none doubled, the last 1000 ms before the stop')
    })

    it('may cost no more, nothing in between, and double nothing', () => {
      expect(() => judge(rows([0, 1, 2]), 9000)).to.throw(/4000 ms older/)
      expect(() => judge(rows([0, 2]), 5000)).to.throw(/some are missing/)
      expect(() => judge(rows([5, 6]), 5000)).to.throw(/some are missing/)
      expect(() => judge(rows([0, 1, 1]), 5000)).to.throw(/1 of 3 rows are doubled/)
      expect(() => judge([], 5000)).to.throw(/some are missing/)
    })
  })
})
