import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { packageNames } from '../../tools/image/base.js'
import { cardBytes, layout, partitionTable } from '../../tools/image/layout.js'
import { commandLine } from '../../tools/image/machine.js'
import { readOptions } from '../../tools/image/options.js'
import { judge } from '../../tools/image/stop-checks.js'
import { judgeUpdates, outagesIn } from '../../tools/image/update-checks.js'
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
        memoryMib: 1024,
        isRootReadOnly: false
      })
      expect(readOptions(['--boot-test', '--machine', 'raspi3b'])).to.include({ task: 'boot-test', machine: 'raspi3b' })
      expect(readOptions(['--power-cuts', '5', '--memory', '512'])).to.include({ task: 'power-cuts', times: 5, memoryMib: 512 })
      expect(readOptions(['--hard-stops', '20', '--read-only-root'])).to.include({ times: 20, isRootReadOnly: true })
    })

    const refused = /** @type {[string[], RegExp][]} */ ([
      [['--machine', 'raspi5'], /virt or raspi3b/],
      [['--memory', '1G'], /--memory must be a whole number/],
      [['--hard-stops', '0'], /--hard-stops must be/],
      [['--boot-test', '--power-cuts', '3'], /exclude each other/],
      [['--boot-test', '--update-test'], /exclude each other/],
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
    expect(commandLine('console=tty0 console=ttyS1,115200 root=LABEL=root rw fsck.repair=yes\n', 'console=ttyAMA0'))
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

  /** @param {number} count @param {number} ms */
  const row = (count, ms) => {
    const data = Buffer.alloc(8)
    data.writeUInt32LE(count)
    return `${data.toString('hex').toUpperCase()}|${ms}000000`
  }

  describe('an update', () => {
    const journal = [
      '10.5 sluice systemd[1]: Starting sluice.service - Sluice gateway...',
      '20.25 sluice systemd[1]: Started sluice.service - Sluice gateway.',
      '30.5 sluice systemd[1]: Stopping sluice.service - Sluice gateway...',
      '31.0 sluice sluice[77]: Started flows',
      '40.0 sluice systemd[1]: Started sluice.service - Sluice gateway.',
      '50.0 sluice systemd[1]: Stopping sluice.service - Sluice gateway...',
      '55.0 sluice systemd[1]: Failed to start sluice.service - Sluice gateway.',
      '70.0 sluice systemd[1]: Started sluice.service - Sluice gateway.'
    ].join('\n')
    const outages = [{ fromMs: 30_500, toMs: 40_000 }, { fromMs: 50_000, toMs: 70_000 }]

    it('takes the service away until it is started again, however often it fails', () => {
      expect(outagesIn(journal)).to.deep.equal(outages)
    })

    it('may cost the frames that are sent meanwhile, no others, and double nothing', () => {
      const rows = [row(0, 30_000), row(1, 31_000), row(5, 39_000), row(6, 50_000), row(9, 69_000)]
      expect(judgeUpdates(rows, 10, outages))
        .to.equal('10 frames: 5 rows, none doubled, none missing but for 5 that were sent while the gateway restarted')
      expect(() => judgeUpdates(rows, 11, outages)).to.throw(/from frame 0 to frame 9 of 11: some are missing/)
      expect(() => judgeUpdates(rows.slice(1), 10, outages)).to.throw(/some are missing/)
      expect(() => judgeUpdates([...rows, row(9, 69_000)], 10, outages)).to.throw(/1 of 6 rows are doubled/)
      expect(judgeUpdates([row(0, 31_000), row(2, 47_000)], 3, outages)).to.match(/for 1 that/)
      for (const [beforeMs, afterMs] of [[42_000, 43_000], [29_000, 39_000], [31_000, 56_000]]) {
        expect(() => judgeUpdates([row(0, beforeMs), row(2, afterMs)], 3, outages)).to.throw(/1 frames are missing behind frame 0/)
      }
      expect(() => judgeUpdates([], 1, outages)).to.throw(/some are missing/)
    })
  })

  describe('a stop', () => {
    /** @param {number[]} counts @param {number} [ms] */
    const rows = (counts, ms = 5000) => counts.map(count => row(count, ms))

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
