import { expect } from 'chai'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RequiredSinks } from '../../broker/out/required-sinks.js'
import { requestForget } from '../../broker/out/required-sinks-file.js'

const HOUR_MS = 3_600_000
const TEN_MINUTES_MS = 600_000
const list = (/** @type {object} */ more = {}, sink = 'db') => Buffer.from(JSON.stringify({
  gateway: '+', source: '+', sinks: [{ sink, label: 'history', committed: false, ...more }]
}))
const wired = { consumer: 'gw', sink: 'n1', label: 'sqlite', gateway: '+', source: '+' }
const GONE = Buffer.alloc(0)

describe('required sinks', () => {
  /** @type {string} */
  let folder
  /** @type {string} */
  let path
  let now = 0
  /** @type {string[]} */
  let logged
  const note = (/** @type {string} */ text) => { logged.push(text) }
  const log = { info () {}, warn: note, error: note }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-required-'))
    path = join(folder, 'required-sinks', 'broker.json')
    now = 0
    logged = []
  })
  afterEach(() => rm(folder, { recursive: true }))

  const open = () => RequiredSinks.open({ path, gateway: 'gw', log, nowMs: () => now })
  const keysOf = (/** @type {RequiredSinks} */ sinks, source = 'press') => {
    return sinks.all.filter(({ covers }) => covers(source)).map(({ key }) => key)
  }

  it('belong to the gateway: a remote one that is away is waited for by a source that begins later, over restarts', async () => {
    let sinks = await open()
    sinks.heard('other', 'in', list())
    await sinks.close()
    sinks = await open()
    expect(keysOf(sinks, 'a source that begins later')).to.deep.equal(['other/db'])
    await sinks.close()
  })

  it('are those whose readers subscribe to a source of this gateway', async () => {
    const sinks = await open()
    sinks.heard('other', 'one', Buffer.from(JSON.stringify({ gateway: 'gw', source: 'press', sinks: [{ sink: 'a' }, { sink: 'b' }] })))
    sinks.heard('other', 'two', Buffer.from(JSON.stringify({ gateway: '+', source: 'mill', sinks: [{ sink: 'b' }] })))
    sinks.heard('other', 'three', Buffer.from(JSON.stringify({ gateway: 'elsewhere', source: '+', sinks: [{ sink: 'c' }] })))
    expect(keysOf(sinks, 'press')).to.deep.equal(['other/a', 'other/b'])
    expect(keysOf(sinks, 'mill')).to.deep.equal(['other/b'])
    expect(keysOf(sinks, 'lathe')).to.deep.equal([])
    await sinks.close()
  })

  it('of one name in two gateways are two', async () => {
    const sinks = await open()
    sinks.wire([{ ...wired, sink: 'sqlite' }])
    sinks.heard('other', 'in', list({}, 'sqlite'))
    expect(keysOf(sinks)).to.deep.equal(['gw/sqlite', 'other/sqlite'])
    await sinks.close()
  })

  it('end at once when a deploy deletes them, and 10 minutes after their list no longer has them', async () => {
    const sinks = await open()
    /** @type {string[]} */
    const removed = []
    sinks.on('removed', key => removed.push(key))
    sinks.wire([wired, { ...wired, sink: 'n2' }])
    sinks.heard('other', 'in', list())
    sinks.heard('third', 'in', list())
    sinks.wire([{ ...wired, sink: 'n2', label: 'renamed' }])
    sinks.heard('other', 'in', list({}, 'another'))
    sinks.heard('third', 'in', GONE)
    expect(removed).to.deep.equal(['gw/n1'])
    now = TEN_MINUTES_MS - 1
    await sinks.tick()
    expect(keysOf(sinks)).to.have.members(['gw/n2', 'other/db', 'third/db', 'other/another'])
    now = TEN_MINUTES_MS
    await sinks.tick()
    expect(removed).to.deep.equal(['gw/n1', 'other/db', 'third/db'])
    expect(keysOf(sinks)).to.deep.equal(['gw/n2', 'other/another'])
    await sinks.close()
  })

  it('do not end when a wire moves from one reader to another, or an old list is followed by the present one', async () => {
    const sinks = await open()
    /** @type {string[]} */
    const removed = []
    sinks.on('removed', key => removed.push(key))
    sinks.heard('other', 'one', list())
    sinks.heard('third', 'in', list())
    sinks.heard('other', 'one', GONE)
    sinks.heard('third', 'in', list({}, 'old'))
    sinks.heard('other', 'two', list())
    sinks.heard('third', 'in', list())
    now = TEN_MINUTES_MS
    await sinks.tick()
    expect(keysOf(sinks)).to.have.members(['other/db', 'third/db'])
    expect(removed).to.deep.equal(['third/old'])
    await sinks.close()
  })

  it('cover for 10 minutes what a reader no longer subscribes to: another may do so in its place', async () => {
    const of = (/** @type {string} */ source) => Buffer.from(JSON.stringify({ gateway: '+', source, sinks: [{ sink: 'db' }] }))
    const sinks = await open()
    sinks.heard('other', 'in', of('press'))
    sinks.heard('other', 'in', of('mill'))
    expect([keysOf(sinks, 'press'), keysOf(sinks, 'mill')]).to.deep.equal([['other/db'], ['other/db']])
    now = TEN_MINUTES_MS
    await sinks.tick()
    expect([keysOf(sinks, 'press'), keysOf(sinks, 'mill')]).to.deep.equal([[], ['other/db']])
    await sinks.close()
  })

  it('that are ending still do so after a restart, and come back with the very list that they were in', async () => {
    let sinks = await open()
    sinks.heard('other', 'in', list())
    sinks.heard('other', 'in', GONE)
    await sinks.close()
    sinks = await open()
    expect(keysOf(sinks)).to.deep.equal(['other/db'])
    now = TEN_MINUTES_MS
    await sinks.tick()
    expect(keysOf(sinks)).to.deep.equal([])
    sinks.heard('other', 'in', list())
    expect(keysOf(sinks)).to.deep.equal(['other/db'])
    await sinks.close()
  })

  it('are not taken from a list under the own name: anybody could have written it, and here the wiring counts', async () => {
    const sinks = await open()
    sinks.wire([wired])
    sinks.heard('gw', 'in', list({}, 'ghost'))
    sinks.heard('gw', 'in', GONE)
    expect(keysOf(sinks)).to.deep.equal(['gw/n1'])
    await sinks.close()
  })

  it('expire after 24 h of running without a commit, reported, until their list changes', async () => {
    let sinks = await open()
    sinks.heard('other', 'in', list())
    now = 23 * HOUR_MS
    await sinks.tick()
    await sinks.close()
    now = 0
    sinks = await open()
    expect(keysOf(sinks)).to.deep.equal(['other/db'])
    now = HOUR_MS
    await sinks.tick()
    expect(keysOf(sinks)).to.deep.equal([])
    expect(logged.join()).to.include('SLUICE_SINK_EXPIRED').and.to.include('history')
    sinks.heard('other', 'in', list())
    expect(keysOf(sinks), 'the retained list, heard again').to.deep.equal([])
    sinks.heard('other', 'in', list({ committed: true }))
    expect(keysOf(sinks)).to.deep.equal(['other/db'])
    await sinks.close()
  })

  it('never expire once they have committed', async () => {
    const sinks = await open()
    sinks.heard('one', 'in', list())
    sinks.heard('two', 'in', list({ committed: true }))
    sinks.committed('one/db')
    now = 1000 * HOUR_MS
    await sinks.tick()
    expect(keysOf(sinks)).to.deep.equal(['one/db', 'two/db'])
    await sinks.close()
  })

  it('are forgotten on request, for good, although the broker still has the list', async () => {
    let sinks = await open()
    sinks.heard('other', 'in', list({ committed: true }))
    await requestForget(path, 'other/db')
    await sinks.tick()
    expect(keysOf(sinks)).to.deep.equal([])
    await sinks.close()
    sinks = await open()
    sinks.heard('other', 'in', list({ committed: true }))
    expect(keysOf(sinks)).to.deep.equal([])
    await sinks.close()
  })

  it('are forgotten at the next start when the gateway does not run', async () => {
    let sinks = await open()
    sinks.heard('other', 'in', list())
    await sinks.close()
    await requestForget(path, 'other/db')
    sinks = await open()
    expect(keysOf(sinks)).to.deep.equal([])
    sinks.heard('other', 'in', list())
    expect(keysOf(sinks)).to.deep.equal([])
    await sinks.close()
    expect(await readdir(join(folder, 'required-sinks'))).to.deep.equal(['broker.json'])
  })

  for (const [what, text] of [
    ['empty', ''], ['torn', '{"wired":[],"rem'], ['of another kind', '{"db":{"1-a":[[0,3]]}}'],
    ['nonsense', '{"wired":[],"remote":[7],"forgotten":[]}']
  ]) {
    it(`that are ${what} on the disk stop nothing: the file is put aside and reported`, async () => {
      await (await open()).close()
      await writeFile(path, text)
      const sinks = await open()
      expect(logged.join()).to.include('SLUICE_REQUIRED_SINKS')
      sinks.wire([wired])
      sinks.heard('other', 'in', list())
      expect(keysOf(sinks)).to.deep.equal(['gw/n1', 'other/db'])
      await sinks.close()
      const [aside] = (await readdir(join(folder, 'required-sinks'))).filter(name => name.endsWith('.damaged'))
      expect(await readFile(join(folder, 'required-sinks', aside), 'utf8')).to.equal(text)
    })
  }

  it('of a flood of announcements are at most 1000', async () => {
    const sinks = await open()
    const sinksOfOne = Array.from({ length: 100 }, (_, i) => ({ sink: `s${i}` }))
    const hundred = Buffer.from(JSON.stringify({ gateway: '+', source: '+', sinks: sinksOfOne }))
    for (let i = 0; i < 12; i++) sinks.heard(`gw-${i}`, 'in', hundred)
    expect(sinks.all).to.have.length(1000)
    expect(sinks.refused).to.equal(200)
    expect(logged.join()).to.include('More than 1000 sinks')
    await sinks.close()
  })

  const hundredOf = (/** @type {string} */ gateway, from = 0) => Buffer.from(JSON.stringify({
    gateway, source: '+', sinks: Array.from({ length: 100 }, (_, i) => ({ sink: `s${from + i}` }))
  }))

  it('of an own reader that was ungrouped or deleted while the gateway was down are not waited for, and its list is reported', async () => {
    const options = { path, gateway: 'gw', log, nowMs: () => now }
    let sinks = await RequiredSinks.open(options)
    sinks.heard('group:hall/1', 'gw.in', list())
    sinks.heard('group:hall/1', 'another.in', list({}, 'shared'))
    await sinks.close()
    sinks = await RequiredSinks.open({ ...options, isGone: (consumer, reader) => consumer === 'group:hall/1' && reader === 'gw.in' })
    /** @type {string[][]} */
    const ghosts = []
    sinks.on('ghost', (...ghost) => ghosts.push(ghost))
    sinks.wire([wired]) // also where the broker has forgotten the list
    now = TEN_MINUTES_MS
    await sinks.tick()
    expect(keysOf(sinks)).to.deep.equal(['gw/n1', 'group:hall%2F1/shared'])
    sinks.heard('group:hall/1', 'gw.in', list())
    sinks.heard('group:hall/1', 'gw.in', GONE)
    expect(keysOf(sinks)).to.deep.equal(['gw/n1', 'group:hall%2F1/shared'])
    expect(ghosts).to.deep.equal([['group:hall/1', 'gw.in']])
    await sinks.close()
  })

  it('take no room where they are not meant for this gateway, however many are announced', async () => {
    const sinks = await open()
    for (let i = 0; i < 12; i++) sinks.heard(`gw-${i}`, 'in', hundredOf('nobody'))
    sinks.heard('other', 'in', list())
    expect(keysOf(sinks)).to.deep.equal(['other/db'])
    expect(sinks.isCrowded).to.equal(false)
    expect(logged).to.deep.equal([])
    sinks.heard('other', 'in', Buffer.from(JSON.stringify({ gateway: 'nobody', source: '+', sinks: [{ sink: 'db' }] })))
    now = TEN_MINUTES_MS
    await sinks.tick()
    expect(keysOf(sinks)).to.deep.equal([])
    await sinks.close()
  })

  it('of one consumer leave the room of others, and are reported once', async () => {
    const sinks = await open()
    for (let i = 0; i < 12; i++) sinks.heard('evil', `r${i}`, hundredOf('+', 100 * i))
    sinks.heard('other', 'in', list())
    expect(keysOf(sinks)).to.have.length(101).and.to.include('other/db')
    expect(sinks.refused).to.equal(1100)
    await sinks.tick()
    expect(logged).to.have.length(1)
    await sinks.close()
  })

  it('that found no room are taken once there is some, and what was known of the others stays', async () => {
    const sinks = await open()
    sinks.heard('other', 'one', hundredOf('+', 0))
    sinks.committed('other/s99')
    sinks.heard('other', 'two', list())
    expect([sinks.isCrowded, keysOf(sinks).includes('other/db')]).to.deep.equal([true, false])
    sinks.heard('other', 'one', hundredOf('+', 99)) // 99 of them are other sinks
    now = TEN_MINUTES_MS
    await sinks.tick()
    expect(sinks.isCrowded).to.equal(true)
    expect(keysOf(sinks)).to.have.length(100).and.to.include.members(['other/s99', 'other/s100'])
    sinks.heard('other', 'one', GONE)
    now += TEN_MINUTES_MS
    await sinks.tick()
    expect([sinks.isCrowded, keysOf(sinks)]).to.deep.equal([false, ['other/db']])
    sinks.heard('other', 'one', hundredOf('+', 0))
    expect(sinks.isCrowded).to.equal(true)
    sinks.heard('other', 'one', GONE)
    expect(sinks.isCrowded).to.equal(false)
    await sinks.close()
  })

  it('beyond what is remembered of those that find no room are waited for as well', async () => {
    const sinks = await open()
    sinks.heard('other', 'in', hundredOf('+'))
    for (let i = 0; i < 101; i++) sinks.heard('other', `r${i}`, list())
    for (let i = 0; i < 101; i++) sinks.heard('other', `r${i}`, GONE)
    expect(sinks.isCrowded).to.equal(true)
    await sinks.close()
  })

  it('are nobody else\'s to read', async () => {
    await (await open()).close()
    expect((await stat(path)).mode & 0o777).to.equal(0o600)
    expect((await stat(join(folder, 'required-sinks'))).mode & 0o777).to.equal(0o700)
  })
})
