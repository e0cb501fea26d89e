import { expect } from 'chai'
import { diskKind } from '../../../gateway/bench/studies/disk-kind.js'
import { environmentOf } from '../../../gateway/bench/studies/environment.js'
import { SystemFiles } from '../../../gateway/stats/monitor/system-files.js'
import { FakeRoot } from '../../stats/monitor/fake-root.js'

describe('the environment of a study', () => {
  it('has what a reader must know of machine and versions', async () => {
    const environment = await environmentOf('.')
    expect(environment.Processor).to.match(/, \d+ cores?$/)
    expect(environment.Memory).to.match(/^[\d.]+ GiB$/)
    expect(environment['Node.js']).to.equal(process.version)
    expect(environment.Sluice).to.match(/^\d+\.\d+\.\d+/)
    expect(environment['Load at the start']).to.match(/^[\d.]+ in the last minute, [\d.]+ in five, [\d.]+ in fifteen$/)
    expect(Object.values(environment).every(text => typeof text === 'string' && text !== '')).to.equal(true)
  })

  describe('its disk', () => {
    /** @type {FakeRoot} */
    let root
    beforeEach(() => { root = new FakeRoot() })
    afterEach(() => root.remove())

    /** As in /sys, where it is a link to a device of some name. @param {string} device @param {Record<string, string>} files */
    const kindOf = (device, files) => {
      root.write(Object.fromEntries(Object.entries(files).map(([name, text]) => [`sys/devices/block/${device}/${name}`, text])))
      root.link('sys/dev/block/8:1', `../../devices/block/${device}`)
      return diskKind('8:1', new SystemFiles(root.path))
    }

    it('is named by what the kernel tells of it', () => {
      expect(kindOf('sda', { 'queue/rotational': '0\n', 'device/model': 'Invented 500  \n' })).to.equal('SSD (Invented 500)')
    })

    it('is that of the partition', () => {
      root.write({ 'sys/devices/block/sda/queue/rotational': '1\n' })
      expect(kindOf('sda/sda1', { partition: '1\n' })).to.equal('hard disk')
    })

    it('is a virtual one or a card by its name, whatever it says of rotating', () => {
      expect(kindOf('vda', { 'queue/rotational': '1\n' })).to.equal('virtual disk')
      root.remove('sys')
      expect(kindOf('mmcblk0/mmcblk0p2', { partition: '2\n' })).to.equal('SD card or eMMC')
    })

    it('is not known where the file system is on none', () => {
      expect(diskKind('0:31', new SystemFiles(root.path))).to.equal(undefined)
    })
  })
})
