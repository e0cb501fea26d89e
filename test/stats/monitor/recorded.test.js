import { expect } from 'chai'
import { LocalMonitor } from '../../../gateway/stats/monitor/monitor.js'
import { FakeRoot } from './fake-root.js'

describe('Monitor of what other machines have, from recorded trees', () => {
  /** @type {FakeRoot} */
  let root
  beforeEach(() => {
    root = new FakeRoot()
    root.process(10, { userTicks: 1 })
  })
  afterEach(() => root.remove())

  async function cgroup () {
    const monitor = new LocalMonitor({ processes: { server: { pid: 10 } } }, { root: root.path })
    return (await monitor.read()).processes.server.cgroup
  }

  describe('cgroup of version 2', () => {
    const point = 'sys/fs/cgroup'
    const mount = '30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n'
    const cpuStat = 'usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\nnr_periods 90\nnr_throttled 12\nthrottled_usec 340000\n'

    it('tells processor time, throttling, memory and the least limit of it and those around it', async () => {
      root.write({
        'proc/self/mountinfo': mount,
        'proc/10/cgroup': '0::/system.slice/postgresql.service\n',
        [`${point}/system.slice/cpu.max`]: '150000 100000\n',
        [`${point}/system.slice/memory.max`]: 'max\n',
        [`${point}/system.slice/postgresql.service/cpu.stat`]: cpuStat,
        [`${point}/system.slice/postgresql.service/cpu.max`]: 'max 100000\n',
        [`${point}/system.slice/postgresql.service/memory.current`]: '123456789\n',
        [`${point}/system.slice/postgresql.service/memory.peak`]: '223456789\n',
        [`${point}/system.slice/postgresql.service/memory.max`]: '536870912\n'
      })
      expect(await cgroup()).to.deep.equal({
        version: 2,
        cpuSeconds: 2.5,
        userSeconds: 2,
        systemSeconds: 0.5,
        throttledSeconds: 0.34,
        throttledPeriods: 12,
        cpuLimitCores: 1.5,
        memoryBytes: 123456789,
        peakMemoryBytes: 223456789,
        memoryLimitBytes: 536870912
      })
    })

    it('is that of a container where its root is mounted, and has no peak before Linux 5.19', async () => {
      root.write({
        'proc/self/mountinfo': mount,
        'proc/10/cgroup': '0::/\n',
        [`${point}/cgroup.events`]: 'populated 1\nfrozen 0\n',
        [`${point}/cpu.stat`]: cpuStat,
        [`${point}/cpu.max`]: '50000 100000\n',
        [`${point}/memory.current`]: '4096\n',
        [`${point}/memory.max`]: 'max\n'
      })
      const usage = await cgroup()
      expect(usage).to.include({ version: 2, cpuLimitCores: 0.5, memoryBytes: 4096 })
      expect(usage).not.to.have.any.keys('peakMemoryBytes', 'memoryLimitBytes')
    })

    it('is none at the root of all', async () => {
      root.write({ 'proc/self/mountinfo': mount, 'proc/10/cgroup': '0::/\n', [`${point}/cpu.stat`]: cpuStat })
      expect(await cgroup()).to.equal(undefined)
    })
  })

  describe('cgroup of version 1', () => {
    const options = 'rw,nosuid,nodev,noexec,relatime'
    const mounts = (/** @type {string} */ within) => [
      `33 31 0:29 ${within} /sys/fs/cgroup/cpu,cpuacct ${options} shared:9 - cgroup cgroup rw,cpu,cpuacct`,
      `37 31 0:33 ${within} /sys/fs/cgroup/memory ${options} shared:13 - cgroup cgroup rw,memory`,
      `41 31 0:38 / /sys/fs/cgroup/unified ${options} - cgroup2 cgroup2 rw\n`
    ].join('\n')
    const files = (/** @type {string} */ within) => ({
      [`sys/fs/cgroup/cpu,cpuacct${within}/cpu.stat`]: 'nr_periods 50\nnr_throttled 7\nthrottled_time 1230000000\n',
      [`sys/fs/cgroup/cpu,cpuacct${within}/cpuacct.usage`]: '4500000001\n',
      [`sys/fs/cgroup/cpu,cpuacct${within}/cpuacct.stat`]: 'user 300\nsystem 150\n',
      [`sys/fs/cgroup/cpu,cpuacct${within}/cpu.cfs_quota_us`]: '25000\n',
      [`sys/fs/cgroup/cpu,cpuacct${within}/cpu.cfs_period_us`]: '100000\n',
      [`sys/fs/cgroup/memory${within}/memory.usage_in_bytes`]: '777216\n',
      [`sys/fs/cgroup/memory${within}/memory.max_usage_in_bytes`]: '888832\n',
      [`sys/fs/cgroup/memory${within}/memory.limit_in_bytes`]: '1048576\n'
    })
    const lines = (/** @type {string} */ path) => `9:name=systemd:/x\n4:memory:${path}\n2:cpu,cpuacct:${path}\n0::/\n`
    const all = {
      version: 1,
      cpuSeconds: 4.500000001,
      userSeconds: 3,
      systemSeconds: 1.5,
      throttledSeconds: 1.23,
      throttledPeriods: 7,
      cpuLimitCores: 0.25,
      memoryBytes: 777216,
      peakMemoryBytes: 888832,
      memoryLimitBytes: 1048576
    }

    it('tells the same', async () => {
      root.write({ 'proc/self/mountinfo': mounts('/'), 'proc/10/cgroup': lines('/small/one'), ...files('/small/one') })
      expect(await cgroup()).to.deep.equal(all)
    })

    it('is found where a container has its own mounted', async () => {
      root.write({ 'proc/self/mountinfo': mounts('/docker/4f'), 'proc/10/cgroup': lines('/docker/4f'), ...files('') })
      root.write({ 'sys/fs/cgroup/memory/cgroup.procs': '10\n', 'sys/fs/cgroup/cpu,cpuacct/cgroup.procs': '10\n' })
      expect(await cgroup()).to.deep.equal(all)
    })

    it('has no limits where there are none', async () => {
      root.write({ 'proc/self/mountinfo': mounts('/'), 'proc/10/cgroup': lines('/small'), ...files('/small') })
      root.write({
        'sys/fs/cgroup/cpu,cpuacct/small/cpu.cfs_quota_us': '-1\n',
        'sys/fs/cgroup/memory/small/memory.limit_in_bytes': '9223372036854771712\n'
      })
      expect(await cgroup()).to.not.have.any.keys('cpuLimitCores', 'memoryLimitBytes')
    })

    it('is none at the root of all', async () => {
      root.write({ 'proc/self/mountinfo': mounts('/'), 'proc/10/cgroup': lines('/'), ...files('') })
      for (const name of ['memory', 'cpu,cpuacct']) {
        root.write({ [`sys/fs/cgroup/${name}/cgroup.procs`]: '10\n', [`sys/fs/cgroup/${name}/release_agent`]: '\n' })
      }
      expect(await cgroup()).to.equal(undefined)
    })
  })

  describe('the machine', () => {
    const machine = async () => (await new LocalMonitor({ machine: true }, { root: root.path }).read()).machine

    it('has its processors, memory, swap, real disks and network', async () => {
      root.write({
        'proc/stat': 'cpu  1000 50 200 9000 300 10 20 5 0 0\ncpu0 500 25 100 4500 150 5 10 2 0 0\ncpu1 500 25 100 4500 150 5 10 3 0 0\n' +
          'intr 9 1 2\nctxt 123456\nbtime 1\n',
        'proc/meminfo': 'MemTotal:        4000 kB\nMemFree: 1 kB\nMemAvailable:    3000 kB\n' +
          'SwapTotal:       1000 kB\nSwapFree:         400 kB\n',
        'proc/vmstat': 'nr_free_pages 1\npswpin 11\npswpout 22\n',
        'proc/diskstats': ' 179       0 mmcblk0 100 1 2000 9 50 2 4000 9 0 1500 9 0 0 0 0\n' +
          ' 179       1 mmcblk0p1 99 1 1900 9 40 2 3000 9 0 1400 9 0 0 0 0\n' +
          ' 253       0 dm-0 10 1 100 9 50 2 400 9 0 1500 9 0 0 0 0\n',
        'sys/block/mmcblk0/device/name': 'SD\n',
        'sys/block/dm-0/dm/name': 'root\n',
        'proc/net/dev': 'Inter-|   Receive  |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes\n' +
          '    lo: 999999 9 0 0 0 0 0 0 999999 9 0 0 0 0 0 0\n  eth0:1234 9 0 0 0 0 0 0 567 9 0 0 0 0 0 0\n' +
          ' wlan0: 1000 9 0 0 0 0 0 0 1 9 0 0 0 0 0 0\n'
      })
      expect(await machine()).to.deep.equal({
        cores: 2,
        cpuSeconds: 12.8,
        userSeconds: 10.5,
        systemSeconds: 2.3,
        idleSeconds: 90,
        iowaitSeconds: 3,
        stealSeconds: 0.05,
        contextSwitches: 123456,
        memoryBytes: 4000 * 1024,
        availableBytes: 3000 * 1024,
        swapBytes: 600 * 1024,
        swappedInPages: 11,
        swappedOutPages: 22,
        readOperations: 100,
        readBytes: 2000 * 512,
        writeOperations: 50,
        writtenBytes: 4000 * 512,
        diskBusySeconds: 1.5,
        receivedBytes: 2234,
        sentBytes: 568
      })
    })

    it('leaves out what is not there, instead of 0', async () => {
      root.write({ 'proc/stat': 'cpu  1 0 2 3 4\n', 'proc/meminfo': 'MemTotal: 4000 kB\n' })
      expect(await machine()).to.have.all.keys(
        'cpuSeconds', 'userSeconds', 'systemSeconds', 'idleSeconds', 'iowaitSeconds', 'memoryBytes'
      )
      root.remove('proc')
      expect(await machine()).to.equal(undefined)
    })
  })
})
