import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { Affinity } from '../../gateway/bench/limit/affinity.js'
import { ControlGroup } from '../../gateway/bench/limit/control-group.js'
import { holderFor, Limit, readBounds } from '../../gateway/bench/limit/limit.js'
import { readStudyArguments } from '../../gateway/bench/studies/arguments.js'
import { runStudies } from '../../gateway/bench/studies/command.js'

const MEMORY = 512 * 2 ** 20

describe('--limit', () => {
  it('is a share of a core, memory, or both', () => {
    expect(readBounds('cores=0.5,memory=512M')).to.deep.equal({ cores: 0.5, memoryBytes: MEMORY })
    expect(readBounds('memory=1.5GiB')).to.deep.equal({ memoryBytes: 1.5 * 2 ** 30 })
    expect(readBounds('Cores=2')).to.deep.equal({ cores: 2 })
    for (const wrong of ['', 'cores', 'cores=0', 'cores=0.5M', 'cores=half', 'memory=1M', 'disk=1G', 'cores=1,']) {
      expect(() => readBounds(wrong), wrong).to.throw(/^--limit/)
    }
    expect(() => readStudyArguments({ 'with-servers': true, resume: '' }, ['haenisch'])).to.throw(/--with-servers is of --limit/)
  })
})

/**
 * Control groups as the kernel has them: files that come and go with their folder, one group for each process, and in version 2 no group
 * that has both processes and controllers below it, except the first.
 */
class Kernel {
  /** @type {Map<string, Map<string, string>>} by folder */
  folders = new Map()
  /** @type {Map<string, string>} */
  plain = new Map()
  isReadOnly = false

  /** @param {string} folder @param {Record<string, string>} files */
  add (folder, files) { this.folders.set(folder, new Map(Object.entries(files))) }

  /** @param {string} path */
  read (path) { return this.plain.get(path) ?? this.#files(path).get(path.slice(dirname(path).length + 1)) ?? fail('ENOENT') }

  /** @param {string} path @param {string} text */
  write (path, text) {
    const files = this.#files(path)
    const name = path.slice(dirname(path).length + 1)
    if (!files.has(name)) fail('EACCES')
    if (name === 'cgroup.procs') {
      const hierarchy = path.split('/')[4]
      for (const [folder, each] of this.folders) if (folder.split('/')[4] === hierarchy) each.set(name, '')
    }
    if (name === 'cgroup.subtree_control') {
      if (text.includes('+') && files.get('cgroup.procs') && files.has('cgroup.type')) fail('EBUSY')
      const on = new Set(files.get(name)?.split(' ').filter(Boolean))
      for (const word of text.split(' ')) word.startsWith('+') ? on.add(word.slice(1)) : on.delete(word.slice(1))
      files.set(name, [...on].join(' '))
      return
    }
    files.set(name, text)
  }

  /** @param {string} folder */
  make (folder) {
    if (this.isReadOnly) fail('EROFS')
    const above = this.folders.get(dirname(folder)) ?? fail('ENOENT')
    const on = above.get('cgroup.subtree_control')?.split(' ') ?? ['v1']
    const of = { cpu: ['cpu.max'], memory: ['memory.max'], v1: VERSION_1 }
    const names = ['cgroup.procs', ...on.flatMap(name => of[/** @type {keyof of} */ (name)] ?? [])]
    this.folders.set(folder, new Map(names.map(name => [name, ''])))
  }

  /** @param {string} folder */
  remove (folder) {
    if (this.folders.get(folder)?.get('cgroup.procs')) fail('EBUSY')
    this.folders.delete(folder)
  }

  /** @param {string} path */
  #files (path) { return this.folders.get(dirname(path)) ?? fail('ENOENT') }
}

const VERSION_1 = ['cpu.cfs_period_us', 'cpu.cfs_quota_us', 'memory.limit_in_bytes']

/** @param {string} code @returns {never} */
function fail (code) {
  throw Object.assign(new Error(code), { code })
}

describe('a control group of version 2', () => {
  const own = '/sys/fs/cgroup/user.slice/session'
  const group = '/sys/fs/cgroup/user.slice/sluice-bench-7'
  /** @type {Kernel} */
  let kernel
  beforeEach(() => {
    kernel = new Kernel()
    kernel.plain.set('/proc/self/mountinfo', '30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n')
    kernel.plain.set('/proc/self/cgroup', '0::/user.slice/session\n')
    const files = { 'cgroup.controllers': 'cpu io memory pids', 'cgroup.subtree_control': 'memory', 'cgroup.procs': '' }
    kernel.add('/sys/fs/cgroup', files)
    kernel.add('/sys/fs/cgroup/user.slice', { ...files, 'cgroup.type': 'domain' })
    kernel.add(own, { ...files, 'cgroup.subtree_control': '', 'cgroup.procs': '7', 'cgroup.type': 'domain' })
  })

  it('is beside that of the process, which none may be below, and leaves nothing behind', () => {
    const before = structuredClone(kernel.folders)
    const made = new ControlGroup({ cores: 0.5, memoryBytes: MEMORY }, { files: kernel, pid: 7 })
    expect(made.text).to.equal('Limited to 0.5 of a core and 512 MiB of memory by a control group (version 2).')
    expect(Object.fromEntries(kernel.folders.get(group) ?? [])).to.deep.equal(
      { 'cgroup.procs': '', 'cpu.max': '5000 10000', 'memory.max': String(MEMORY) }
    )
    made.enter()
    expect([group, own].map(folder => kernel.read(join(folder, 'cgroup.procs')))).to.deep.equal(['7', ''])
    made.leave()
    expect([group, own].map(folder => kernel.read(join(folder, 'cgroup.procs')))).to.deep.equal(['', '7'])
    made.remove()
    expect(kernel.folders).to.deep.equal(before)
  })

  it('has a period that the kernel takes for a small share, too', () => {
    const made = new ControlGroup({ cores: 0.05 }, { files: kernel, pid: 7 })
    expect(kernel.read(join(group, 'cpu.max'))).to.equal('5000 100000')
    made.remove()
  })

  it('is not made where that is not permitted: then it is fewer cores, which is said', () => {
    kernel.isReadOnly = true
    const before = structuredClone(kernel.folders)
    const holder = holderFor({ cores: 0.5, memoryBytes: MEMORY }, {
      makeGroup: bounds => new ControlGroup(bounds, { files: kernel, pid: 7 }),
      makeAffinity: (bounds, options) => new Affinity(bounds, { ...options, run: () => 'pid 7\'s current affinity list: 0-3' })
    })
    expect(holder.text).to.equal('Held to one whole core by taskset, where 0.5 of a core and 512 MiB of memory was asked for (a control ' +
      'group cannot be made: EROFS). What the processor bounds would be 0.5 times the figures here. Memory is not limited.')
    expect(kernel.folders).to.deep.equal(before)
  })
})

describe('fewer cores by taskset', () => {
  /** @type {string[][]} */
  let asked
  beforeEach(() => { asked = [] })
  const run = (/** @type {string[]} */ args) => {
    asked.push(args)
    return 'pid 7\'s current affinity list: 0,2-4\n'
  }

  it('are those that the process had, and all of them again afterwards', () => {
    const holder = new Affinity({ cores: 1.5 }, { why: 'for a test', run })
    expect(holder.text).to.match(/^Held to 2 whole cores .* would be 0\.75 times/)
    holder.enter()
    holder.leave()
    expect(asked).to.deep.equal([['-cp', `${process.pid}`], ['-acp', '0,2', `${process.pid}`], ['-acp', '0,2-4', `${process.pid}`]])
  })

  it('do not limit memory, and are an error where nothing else was asked for', () => {
    expect(() => new Affinity({ memoryBytes: MEMORY }, { why: 'EROFS', run })).to.throw().with.property('code', 'SLUICE_BENCH_LIMIT')
  })

  it('are those of the real program', function () {
    if (!has('taskset')) return skip(this, 'there is no taskset')
    const list = () => /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    const before = list()
    const holder = new Affinity({ cores: 0.5 }, { why: 'for a test' })
    holder.enter()
    try {
      expect(list()).to.match(/^\d+$/)
    } finally {
      holder.leave()
    }
    expect(list()).to.equal(before)
  })
})

describe('a limit', function () {
  this.timeout(60_000)

  it('is left while servers are started, by as many as start them, and entered again', async () => {
    /** @type {string[]} */
    const calls = []
    const log = (/** @type {string} */ name) => () => { calls.push(name) }
    const limit = new Limit({ text: 'Small.', enter: log('enter'), leave: log('leave'), remove: log('remove') })
    const start = async () => {
      calls.push('start')
      return /** @type {any} */ ({ start: async () => { calls.push('start again') } })
    }
    const servers = limit.servers(() => ({ missing: () => null, start }))
    limit.begin()
    const [server] = await Promise.all([servers('one').start({ folder: '' }), servers('two').start({ folder: '' })])
    await server.start?.()
    limit.end()
    expect(calls).to.deep.equal(
      ['enter', 'leave', 'start', 'start', 'enter', 'leave', 'start again', 'enter', 'leave', 'remove']
    )
    expect(limit.text).to.match(/^Small\. .*servers are not limited\.$/)
  })

  it('holds servers, too, where that is asked for', async () => {
    const limit = new Limit({ text: 'Small.', enter () {}, leave: () => fail('left'), remove () {} }, { withServers: true })
    limit.begin()
    await limit.servers(() => ({ missing: () => null, start: async () => /** @type {any} */ ({}) }))('one').start({ folder: '' })
    expect(limit.text).to.match(/the servers that the bench has started are in it, too\.$/)
  })

  it('holds what is started in it to its share of a core and memory, and nothing else', async function () {
    const groupOf = (/** @type {number|string} */ pid) => readFileSync(`/proc/${pid}/cgroup`, 'utf8')
    const before = groupOf('self')
    /** @type {ControlGroup} */
    let group
    try {
      group = new ControlGroup({ cores: 0.2, memoryBytes: MEMORY })
    } catch (error) {
      return skip(this, /** @type {Error} */ (error).message)
    }
    const limit = new Limit(group)
    const busy = () => spawn(process.execPath, ['-e', 'for (const end = Date.now() + 2000; Date.now() < end;);' +
      'const { user, system } = process.cpuUsage(); console.log((user + system) / 1e6 / (performance.now() / 1000))'])
    limit.begin()
    const inside = busy()
    const outside = await limit.outside(async () => busy())
    try {
      expect(groupOf(Number(inside.pid))).to.contain(`sluice-bench-${process.pid}`)
      expect(groupOf(Number(outside.pid))).to.equal(before)
      const [share] = await once(inside.stdout, 'data')
      expect(Number(share)).to.be.below(0.25)
    } finally {
      await Promise.all([inside, outside].map(async child => {
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        if (child.exitCode === null && child.signalCode === null) await exited
      }))
      limit.end()
    }
    expect(groupOf('self')).to.equal(before)
    expect(execFileSync('find', ['/sys/fs/cgroup', '-name', `sluice-bench-${process.pid}`], { encoding: 'utf8' })).to.equal('')
  })

  it('is said in the first line of the report, and is over when the study is', async function () {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-test-'))
    const before = readFileSync('/proc/self/cgroup', 'utf8')
    try {
      const values = { folder, resume: '', limit: 'cores=0.9', databases: 'sqlite', 'batch-sizes': '100', writers: '1', rows: '100' }
      /** @type {any[]} */
      const events = []
      await runStudies(readStudyArguments(values, ['haenisch']), {
        servers: () => fail('none'), signal: new AbortController().signal, tell: event => events.push(event)
      })
      const report = events.find(({ event }) => event === 'report')
      const { limited } = JSON.parse(await readFile(join(report.folder, 'result.json'), 'utf8'))
      expect(limited).to.match(/^(Limited to 0\.9 of a core|Held to one whole core)/)
      const page = await readFile(report.page, 'utf8')
      const [first] = limited.split('.')
      expect(page.indexOf(first)).to.be.within(0, page.indexOf('<h1>'))
      expect(await readFile(join(report.folder, 'report.md'), 'utf8')).to.contain(first)
    } finally {
      await rm(folder, { recursive: true })
    }
    expect(readFileSync('/proc/self/cgroup', 'utf8')).to.equal(before)
  })
})

/** @param {string} program */
function has (program) {
  try {
    execFileSync(program, ['--version'])
    return true
  } catch {
    return false
  }
}

/** @param {Mocha.Context} context @param {string} why */
function skip (context, why) {
  console.log(`    skipped: ${why}`)
  context.skip()
}
