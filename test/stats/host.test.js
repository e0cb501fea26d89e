import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { alarmsOf } from '../../gateway/stats/host/alarms.js'
import { Host, readHost } from '../../gateway/stats/host/host.js'
import { numbersOf } from '../../gateway/stats/host/written.js'
import { SystemFiles } from '../../gateway/stats/monitor/system-files.js'
import { FakeRoot } from './monitor/fake-root.js'

describe('The machine\'s health, from a fake /sys and /proc', () => {
  /** @type {FakeRoot} */
  let root
  /** @type {string} */
  let folder
  beforeEach(() => {
    root = new FakeRoot()
    folder = mkdtempSync(join(tmpdir(), 'sluice-host-'))
  })
  afterEach(() => {
    root.remove()
    rmSync(folder, { recursive: true })
  })

  const read = () => readHost(folder, new SystemFiles(root.path))

  it('has nothing that cannot be read, but the room on the disk', async () => {
    const { disk, ...rest } = await read()
    expect(JSON.parse(JSON.stringify(rest))).to.deep.equal({ cards: [] })
    expect(disk).to.include.keys('freeBytes', 'totalBytes')
  })

  it('has the temperature of the processor, at its hottest, whatever else is hotter', async () => {
    for (const [i, [type, temp]] of [['acpitz', '90000'], ['cpu-thermal', '61500'], ['soc-thermal', '64200']].entries()) {
      root.write({ [`sys/class/thermal/thermal_zone${i}/type`]: `${type}\n`, [`sys/class/thermal/thermal_zone${i}/temp`]: `${temp}\n` })
    }
    expect((await read()).temperatureCelsius).to.equal(64.2)
  })

  it('has what a Pi\'s firmware reports of power and heat, now and since the start', async () => {
    const path = 'sys/devices/platform/soc/soc:firmware/get_throttled'
    root.write({ [path]: '0\n' })
    expect((await read()).throttling).to.deep.equal({ now: [], sinceStart: [] })
    root.write({ [path]: '50004\n' })
    expect((await read()).throttling).to.deep.equal({ now: ['throttled'], sinceStart: ['underVoltage', 'throttled'] })
  })

  it('has the alarm of the voltage sensor where a kernel of Debian runs a Pi', async () => {
    root.write({
      'sys/class/hwmon/hwmon0/name': 'cpu_thermal\n',
      'sys/class/hwmon/hwmon1/name': 'rpi_volt\n',
      'sys/class/hwmon/hwmon1/in0_lcrit_alarm': '1\n'
    })
    expect((await read()).throttling?.now).to.deep.equal(['underVoltage'])
  })

  it('has the wear of an eMMC, and nothing of a card that does not tell', async () => {
    root.write({
      'sys/block/mmcblk0/device/life_time': '0x01 0x03\n',
      'sys/block/mmcblk0/device/pre_eol_info': '0x02\n',
      'sys/block/mmcblk0boot0/size': '8\n',
      'sys/block/mmcblk1/device/name': 'SD64G\n',
      'sys/block/mmcblk2/device/life_time': '0x00 0x00\n',
      'sys/block/sda/device/model': 'x\n'
    })
    expect((await read()).cards).to.deep.equal([{ name: 'mmcblk0', wornPercent: 30, reserve: 'warning' }])
  })

  it('has what was written to the whole disk on whose partition the folder is, and how much that is a day', async () => {
    const sectors = 2_000_000
    root.write({
      'sys/devices/mmc/mmcblk0/stat': `    1 0 2 3 4 5 ${sectors} 7 0 8 9\n`,
      'sys/devices/mmc/mmcblk0/mmcblk0p2/stat': '    1 0 2 3 4 5 1 7 0 8 9\n',
      'sys/devices/mmc/mmcblk0/mmcblk0p2/partition': '2\n',
      'proc/uptime': '43200.50 80000.00\n'
    })
    root.link(`sys/dev/block/${numbersOf(statSync(folder).dev)}`, '../../devices/mmc/mmcblk0/mmcblk0p2')
    const { written } = await read()
    expect(written).to.include({ disk: 'mmcblk0', bytes: sectors * 512 })
    expect(written?.bytesPerDay).to.be.closeTo(2 * sectors * 512, 1e5)
  })

  it('is read at most every ten seconds, and only when somebody asks', async () => {
    let nowMs = 0
    root.write({ 'sys/class/thermal/thermal_zone0/type': 'cpu-thermal\n', 'sys/class/thermal/thermal_zone0/temp': '50000\n' })
    const host = new Host(folder, { files: new SystemFiles(root.path), now: () => nowMs })
    expect(host.report).to.equal(null)
    const settled = async (/** @type {number} */ celsius) => {
      while (host.report?.temperatureCelsius !== celsius) await new Promise(resolve => setTimeout(resolve, 1))
    }
    await settled(50)
    const first = host.report
    root.write({ 'sys/class/thermal/thermal_zone0/temp': '76000\n' })
    nowMs = 9999
    expect(host.report).to.equal(first)
    nowMs = 10_000
    await settled(76)
    expect(host.report?.alarms.map(({ phrases: _, ...alarm }) => alarm)).to.deep.include({ kind: 'temperature', level: 'warning',
      what: 'The processor has 76 °C.', fix: 'Give it air or a heat sink, and see what takes the processor.' })
  })
})

describe('Alarms of the machine', () => {
  const kinds = (/** @type {Parameters<typeof alarmsOf>[0]} */ state) => alarmsOf(state).map(({ kind, level }) => `${kind} ${level}`)

  it('begin with the temperature at 75 °C, and are a problem from 82 °C on', () => {
    expect(kinds({ temperatureCelsius: 74.9 })).to.deep.equal([])
    expect(kinds({ temperatureCelsius: 75 })).to.deep.equal(['temperature warning'])
    expect(kinds({ temperatureCelsius: 82 })).to.deep.equal(['temperature problem'])
  })

  it('are a problem where the voltage is too low now, and a warning where anything was wrong', () => {
    expect(kinds({ throttling: { now: ['underVoltage'], sinceStart: ['underVoltage'] } })).to.deep.equal(['power problem'])
    expect(kinds({ throttling: { now: [], sinceStart: ['underVoltage'] } })).to.deep.equal(['power warning'])
    expect(kinds({ throttling: { now: [], sinceStart: [] } })).to.deep.equal([])
  })

  it('warn of a card at 80 %, or whose reserve is used, and are a problem when its life is over', () => {
    const card = { name: 'mmcblk0', wornPercent: 70 }
    expect(kinds({ cards: [card] })).to.deep.equal([])
    expect(kinds({ cards: [{ ...card, wornPercent: 80 }] })).to.deep.equal(['card warning'])
    expect(kinds({ cards: [{ ...card, reserve: 'warning' }] })).to.deep.equal(['card warning'])
    expect(kinds({ cards: [{ ...card, wornPercent: 110 }] })).to.deep.equal(['card problem'])
    expect(kinds({ cards: [{ ...card, reserve: 'urgent' }] })).to.deep.equal(['card problem'])
  })

  it('warn of little room, both as a share and in bytes, and of few inodes', () => {
    const levels = (/** @type {import('../../gateway/stats/host/space.js').Space} */ disk) => kinds({ disk })
    expect(levels({ freeBytes: 3e9, totalBytes: 16e9 })).to.deep.equal([])
    expect(levels({ freeBytes: 1.5e9, totalBytes: 16e9 })).to.deep.equal(['space warning'])
    expect(levels({ freeBytes: 0.4e9, totalBytes: 16e9 })).to.deep.equal(['space problem'])
    expect(levels({ freeBytes: 20e9, totalBytes: 1000e9 }), 'a large disk').to.deep.equal([])
    expect(levels({ freeBytes: 90e6, totalBytes: 500e6 }), 'a small disk').to.deep.equal(['space problem'])
    expect(levels({ freeBytes: 9e9, totalBytes: 16e9, freeInodes: 5, totalInodes: 100 })).to.deep.equal(['files warning'])
    expect(levels({ freeBytes: 9e9, totalBytes: 16e9, freeInodes: 2, totalInodes: 100 })).to.deep.equal(['files problem'])
  })
})
