import { expect } from 'chai'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { localCommits } from '../../broker/local.js'
import { hashOf } from '../../gateway/batch/hashes.js'
import { peekIdentity } from '../../gateway/messages/codecs/arrow/arrow.js'
import { until } from './pipeline.js'
import { batchOf, commitOf, seqsOf, StageRig } from './stage-rig.js'

const numbers = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i)
const wired = { consumer: 'gw', sink: 'db', label: 'history', gateway: '+', source: '+' }

describe('stage out, clause by clause', () => {
  /** @type {StageRig} */
  let rig
  beforeEach(async () => { rig = await StageRig.create() })
  afterEach(() => rig.stop())

  /** @param {import('../../broker/out/stage.js').Stage} stage @param {number} count @param {number} [from] */
  const produce = (stage, count, from = 0) => Promise.all(numbers(count).map(i => stage.append(batchOf(from + i))))

  /** @param {import('../../broker/out/stage.js').Stage} stage */
  const firstWanted = stage => stage.spool.next()?.seq

  it('starts again from the first that is not stored where the broker has lost its session', async () => {
    const { stage, requiredSinks } = await rig.openStage()
    requiredSinks.wire([wired])
    const sent = await rig.listen('sluice/v2/gw/data/press')
    await produce(stage, 10)
    await until(() => sent.length === 10)
    const commit = commitOf([...sent.slice(0, 4), ...sent.slice(6, 8)])
    localCommits.publish({ consumer: 'gw', sink: 'db', gateway: 'gw', commit })
    await until(() => firstWanted(stage) === 4)
    await rig.restartBroker()
    const heard = await rig.listen('sluice/v2/gw/data/press')
    await until(() => heard.length >= 4)
    expect(seqsOf(heard)).to.deep.equal([4, 5, 8, 9])
  })

  it('goes on where it was where the broker has kept its session', async () => {
    const { stage, connection } = await rig.openStage()
    const heard = await rig.listen('sluice/v2/gw/data/press')
    await produce(stage, 10)
    await until(() => heard.length === 10)
    connection.client.stream.destroy()
    await until(() => !stage.state.connected)
    await produce(stage, 10, 10)
    await until(() => heard.length >= 20)
    expect(seqsOf(heard)).to.deep.equal(numbers(20))
  })

  it('says what it holds in a retained message, as soon as it connects', async () => {
    const first = await rig.openStage({ headIntervalMs: 60_000 })
    await until(() => first.stage.state.connected)
    const [{ epoch }] = await first.stage.append(batchOf(0, 'press', 5))
    const heard = await rig.listen('sluice/v2/gw/head/out')
    first.connection.client.stream.destroy()
    await until(() => heard.some(({ payload }) => JSON.parse(String(payload)).rows === 5))
    const late = await rig.listen('sluice/v2/gw/head/out')
    await until(() => late.length > 0)
    expect(late[0].retain).to.equal(true)
    expect(JSON.parse(String(late[0].payload))).to.deep.equal({
      rows: 5, sources: [{ source: 'press', rows: 5, lostRows: 0, replacedRows: 0, epochs: [[epoch, 0, 0, 0, 5]] }]
    })
  })

  it('lets go of what no sink covers once the broker has acknowledged it', async () => {
    const { stage } = await rig.openStage({ wired: [{ ...wired, source: 'mill' }] })
    await produce(stage, 3)
    await until(() => {
      stage.spool.reclaim()
      return stage.spool.batches === 0
    })
    expect(stage.state.droppedBatches).to.equal(0)
  })

  it('says what it holds when that changes, and not when it does not', async () => {
    const { stage } = await rig.openStage({ headIntervalMs: 20 })
    const heads = await rig.listen('sluice/v2/gw/head/out')
    await until(() => heads.length > 0)
    await produce(stage, 1)
    await until(() => JSON.parse(String(heads.at(-1)?.payload)).rows === 1)
    const count = heads.length
    const echo = await rig.listen('sluice/v2/gw/data/press')
    stage.heads.changed() // something may have changed, and has not
    await produce(stage, 1)
    await until(() => echo.length > 0 && JSON.parse(String(heads.at(-1)?.payload)).rows === 2)
    expect(heads.length).to.equal(count + 1)
  })

  it('waits for a sink that another gateway announced while it was away, before it releases anything', async () => {
    const before = await rig.openStage()
    before.requiredSinks.wire([wired])
    const sent = await rig.listen('sluice/v2/gw/data/press')
    await produce(before.stage, 3)
    await until(() => sent.length === 3)
    const commit = commitOf(sent)
    await before.close()
    await rig.announce('other')
    const { stage, requiredSinks } = await rig.openStage()
    requiredSinks.wire([wired])
    localCommits.publish({ consumer: 'gw', sink: 'db', gateway: 'gw', commit })
    await until(() => stage.state.connected)
    await until(() => stage.state.requiredSinks.join() === 'gw/db,other/db')
    expect(firstWanted(stage)).to.equal(0)
    await rig.commit('other', commit)
    await until(() => stage.spool.next() === null)
  })

  it('releases nothing for an empty list of required sinks: the broker still knows who has announced itself', async () => {
    const options = { maxBytes: 16_384, wired: [wired] } // a segment has few batches
    const before = await rig.openStage(options)
    await rig.announce('other')
    const sent = await rig.listen('sluice/v2/gw/data/press')
    await produce(before.stage, 10)
    await until(() => sent.length === 10 && before.stage.state.requiredSinks.length === 2)
    const commit = commitOf(sent)
    localCommits.publish({ consumer: 'gw', sink: 'db', gateway: 'gw', commit })
    await before.close()
    await writeFile(join(rig.folder, 'required-sinks', 'b.json'), '')
    const { stage } = await rig.openStage(options)
    localCommits.publish({ consumer: 'gw', sink: 'db', gateway: 'gw', commit })
    await until(() => stage.state.connected && stage.state.requiredSinks.length === 2)
    expect(stage.state.spoolBatches).to.equal(10)
    await rig.commit('other', commit)
    await until(() => stage.state.spoolBatches < 10)
    expect(rig.logged.join('\n')).to.include('SLUICE_REQUIRED_SINKS')
  })

  it('answers readers alone, in order, in turn, and no more than it holds, however much is asked for', async () => {
    const { stage } = await rig.openStage()
    const heard = await rig.listen('sluice/v2/gw/resent/+/+')
    const [[{ epoch }]] = await produce(stage, 10)
    await until(() => stage.state.connected)
    await rig.tell('sluice/v2/other/resend/in/gw', {
      sources: { press: { [epoch]: [[2, 3], [7, Number.MAX_SAFE_INTEGER]], '9-unknown': [[0, 5]] }, unknown: { [epoch]: [[0, 1]] } }
    })
    await until(() => heard.length === 5)
    expect(seqsOf(heard)).to.deep.equal([2, 3, 7, 8, 9])
    expect(new Set(heard.map(({ topic }) => topic))).to.deep.equal(new Set(['sluice/v2/gw/resent/other/in']))
  })

  it('adds a new request to what is left of the one before', async () => {
    const { stage } = await rig.openStage()
    const heard = await rig.listen('sluice/v2/gw/resent/+/+')
    const [[{ epoch }]] = await produce(stage, 10)
    await until(() => stage.state.connected)
    await Promise.all([[[0, 3]], [[2, 5]], [[9, 9]]].map(ranges => {
      return rig.tell('sluice/v2/other/resend/in/gw', { sources: { press: { [epoch]: ranges } } })
    }))
    await until(() => [0, 1, 2, 3, 4, 5, 9].every(seq => seqsOf(heard).includes(seq)))
  })

  it('goes on after messages that make no sense, and counts them', async () => {
    const { stage } = await rig.openStage()
    await rig.announce('other')
    await until(() => stage.state.requiredSinks.length === 1)
    await until(() => stage.state.connected)
    await stage.append(batchOf(0))
    const sources = [{ press: { e: 'all' } }, { press: { e: [[5, 0, 1]] } }]
    for (const message of [null, ...sources.map(each => ({ store: 'a', sources: each }))]) {
      await rig.commit('other', message ?? 'x')
      await rig.tell('sluice/v2/other/resend/in/gw', message)
      await rig.tell('sluice/v2/other/sinks/in', message)
    }
    await until(() => stage.state.impossible >= 8)
    expect(stage.state.requiredSinks).to.deep.equal(['other/db'])
    expect(rig.logged.join('\n')).to.include('SLUICE_PROTOCOL')
    await rig.announce('real')
    await until(() => stage.state.requiredSinks.includes('real/db'))
  })

  it('refuses commits in its own name that come over the broker, and reports them', async () => {
    const { stage, requiredSinks } = await rig.openStage()
    requiredSinks.wire([wired])
    const sent = await rig.listen('sluice/v2/gw/data/press')
    await produce(stage, 3)
    await until(() => sent.length === 3)
    await rig.commit('gw', commitOf(sent))
    await until(() => stage.state.strangers === 1)
    expect(firstWanted(stage)).to.equal(0)
    expect(rig.logged.join('\n')).to.include('SLUICE_STRANGER')
  })

  it('releases nothing for a commit whose hashes it does not know', async () => {
    const { stage } = await rig.openStage()
    await rig.announce('other')
    const sent = await rig.listen('sluice/v2/gw/data/press')
    await produce(stage, 3)
    await until(() => sent.length === 3 && stage.state.requiredSinks.length === 1)
    const heads = await rig.listen('sluice/v2/gw/head/out')
    const forged = commitOf(sent)
    const [[range]] = Object.values(forged.sources.press)
    range[2] = (range[2] + 1) % 2 ** 48
    await rig.commit('other', forged)
    await until(() => heads.some(({ payload }) => String(payload).includes('"doubt":[[0,2]]')))
    expect(firstWanted(stage)).to.equal(0)
    expect(stage.state.doubts).to.equal(0)
    for (let answer = 0; answer < 5; answer++) await rig.commit('other', forged)
    await until(() => stage.state.doubts === 1)
    expect(rig.logged.join('\n')).to.include('SLUICE_DOUBT')
    await rig.commit('other', commitOf(sent, { merged: false }))
    await until(() => stage.spool.next() === null)
  })

  it('reports a database that has less than before, or is another one', async () => {
    const { stage } = await rig.openStage()
    await rig.announce('other')
    const sent = await rig.listen('sluice/v2/gw/data/press')
    await produce(stage, 3)
    await until(() => sent.length === 3 && stage.state.requiredSinks.length === 1)
    await rig.commit('other', commitOf(sent))
    await until(() => stage.spool.next() === null)
    await rig.commit('other', commitOf(sent.slice(0, 1)))
    await until(() => firstWanted(stage) === 1)
    expect(stage.state.setBack).to.equal(1)
    await rig.commit('other', commitOf(sent, { store: 's2' }))
    await until(() => stage.spool.next() === null)
    expect(stage.state.setBack).to.equal(2)
    expect(rig.logged.join('\n')).to.include('SLUICE_SET_BACK')
  })

  it('stages a batch again whose identity another batch has in a database, and raises an alarm', async () => {
    const { stage } = await rig.openStage()
    await rig.announce('other')
    const sent = await rig.listen('sluice/v2/gw/data/press')
    await produce(stage, 3)
    await until(() => sent.length === 3 && stage.state.requiredSinks.length === 1)
    const commit = commitOf(sent, { merged: false })
    const [ranges] = Object.values(commit.sources.press)
    ranges[1][2] = (ranges[1][2] + 1) % 2 ** 48
    await Promise.all([rig.commit('other', commit), rig.commit('other', commit)]) // said twice, it is staged again once
    await until(() => sent.length === 4)
    const [clashing, again] = [sent[1], sent[3]].map(({ payload }) => peekIdentity(payload))
    expect(again?.epoch).to.not.equal(clashing?.epoch)
    expect(again?.ancestors).to.deep.equal([{ epoch: clashing?.epoch, seq: 1, hash: hashOf(sent[1].payload) }])
    expect(stage.state.clashes).to.be.at.least(1)
    expect(rig.logged.join('\n')).to.include('SLUICE_CLASH')
    const { rows, replaced } = stage.spool.head.sources[0]
    expect(rows - replaced).to.equal(3)
    const stored = commitOf([sent[0], sent[2], sent[3]], { merged: false })
    await rig.commit('other', stored)
    await until(() => stage.spool.next() === null)
  })

  it('begins a new epoch when the broker knows more of the present one: this machine was restored, or is a copy', async () => {
    const { stage, connection } = await rig.openStage()
    await until(() => stage.state.connected)
    const [{ epoch }] = await stage.append(batchOf(0))
    await until(() => stage.spool.head.sources.length === 1)
    const heads = await rig.listen('sluice/v2/gw/head/out')
    await until(() => heads.some(({ payload }) => String(payload).includes(epoch)))
    const ahead = { rows: 9, sources: [{ source: 'press', rows: 9, lostRows: 0, replacedRows: 0, epochs: [[epoch, 0, 8, 0, 9]] }] }
    await rig.tell('sluice/v2/gw/head/out', ahead, true)
    connection.client.stream.destroy()
    await until(() => !stage.state.connected)
    await until(() => stage.state.connected)
    const [next] = await stage.append(batchOf(1))
    expect(next.epoch).to.not.equal(epoch)
    expect(next).to.deep.include({ seq: 0, before: 9 })
  })

  it('sends and releases nothing before it has heard what the broker knows of it', async () => {
    const before = await rig.openStage()
    const [{ epoch }] = await before.stage.append(batchOf(0))
    const data = await rig.listen('sluice/v2/gw/data/press')
    await until(() => before.stage.state.connected && data.length === 1)
    await before.close()
    const order = await rig.listen('sluice/v2/gw/#')
    const { stage } = await rig.openStage()
    await stage.append(batchOf(1))
    await until(() => data.length >= 3)
    const kinds = order.filter(({ retain }) => !retain).map(({ topic }) => topic.split('/')[3])
    expect(kinds.slice(0, 2)).to.have.members(['echo', kinds[1]])
    expect(kinds.indexOf('echo')).to.be.below(kinds.indexOf('data'))
    expect(stage.spool.head.sources[0].epochs.map(each => each.epoch)).to.include(epoch)
  })

  it('sends at once what comes seldom', async () => {
    const { stage, connection: { client } } = await rig.openStage()
    await until(() => stage.state.connected)
    /** @type {string[]} */
    const published = []
    const publish = client.publish.bind(client)
    client.publish = (/** @type {string} */ topic, /** @type {any[]} */ ...rest) => {
      published.push(topic)
      return /** @type {any} */ (publish)(topic, ...rest)
    }
    await stage.append(batchOf(0))
    for (let turn = 0; turn < 10; turn++) await new Promise(resolve => { setImmediate(resolve) })
    expect(published).to.include('sluice/v2/gw/data/press')
  })

  for (const [what, write, ends] of /** @type {[string, () => Promise<never>, boolean][]} */ ([
    ['is full', async () => { throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }) }, true],
    ['hangs', () => new Promise(() => {}), false]
  ])) {
    it(`ends its connection when the disk ${what}: another with the same id follows, and they would push each other out`, async () => {
      const { stage, connection, close } = await rig.openStage({ write })
      await until(() => stage.state.connected)
      stage.append(batchOf(0)).catch(() => {})
      const closing = close().catch(() => {})
      await until(() => connection.client.disconnected)
      if (ends) await closing // two spools would be in each other's way
      const again = await rig.openStage()
      let evictions = 0
      again.connection.client.on('close', () => { evictions++ })
      await until(() => again.stage.state.connected)
      await again.stage.append(batchOf(1))
      expect(evictions).to.equal(0)
    })
  }

  it('begins a new epoch after it has been suspended, before it gives a seq that a copy of it may have given', async () => {
    const { stage } = await rig.openStage()
    const [before] = await stage.append(batchOf(0))
    const realNow = Date.now
    Date.now = () => realNow() + 3_600_000
    try {
      const [after] = await stage.append(batchOf(1))
      expect(after.epoch).to.not.equal(before.epoch)
      expect(after).to.deep.include({ seq: 0, before: 1 })
    } finally {
      Date.now = realNow
    }
  })

  it('keeps what a commit of a local sink says until the wiring has the sink', async () => {
    const { stage, requiredSinks } = await rig.openStage()
    requiredSinks.wire([{ ...wired, sink: 'another' }])
    const sent = await rig.listen('sluice/v2/gw/data/press')
    await produce(stage, 3)
    await until(() => sent.length === 3)
    localCommits.publish({ consumer: 'gw', sink: 'db', gateway: 'gw', commit: commitOf(sent) })
    expect(firstWanted(stage)).to.equal(0)
    requiredSinks.wire([wired])
    await until(() => stage.spool.next() === null)
  })

  it('keeps what each of two readers has said of its sources until it can use it, not only the last word', async () => {
    const { stage, requiredSinks } = await rig.openStage()
    requiredSinks.wire([{ ...wired, sink: 'another' }])
    const sent = await rig.listen('sluice/v2/gw/data/+')
    await Promise.all([stage.append(batchOf(0, 'a')), stage.append(batchOf(1, 'b'))])
    await until(() => sent.length === 2)
    for (const message of sent) {
      localCommits.publish({ consumer: 'gw', sink: 'db', gateway: 'gw', commit: commitOf([message]) })
    }
    requiredSinks.wire([wired])
    await until(() => stage.spool.next() === null)
  })
})
