import { expect } from 'chai'
import { Members, memberOf } from '../../broker/in/members.js'
import { observed } from './observed.js'
import { FakeDatabase, until } from './pipeline.js'

const gateways = Array.from({ length: 2000 }, (_, i) => `gateway-${i}`)

describe('members that share gateways', () => {
  it('have each gateway once, and about as many each', () => {
    const members = [1, 2, 3, 4].map(member => new Members(member, 4))
    expect(gateways.every(gateway => members.filter(each => each.has(gateway)).length === 1)).to.equal(true)
    for (const member of members) expect(gateways.filter(gateway => member.has(gateway)).length).to.be.within(400, 600)
  })

  it('keep what they have when there is one more, which takes over its part', () => {
    const moved = gateways.filter(gateway => memberOf(gateway, 4) !== memberOf(gateway, 5))
    expect(moved.every(gateway => memberOf(gateway, 5) === 5)).to.equal(true)
    expect(moved.length).to.be.within(300, 500)
  })
})

describe('a member', () => {
  /** What another reader's list says. @param {[number, number]} [member] @param {...string} names  of its sinks */
  const listOf = (member, ...names) => {
    const sinks = (names.length > 0 ? names : ['history']).map(sink => ({ sink, label: sink, committed: true }))
    return { gateway: '+', source: '+', member, sinks }
  }
  /** @param {...ReturnType<typeof listOf>} lists  of the others */
  const flawOfSecondOfThree = (...lists) => {
    const members = new Members(2, 3)
    lists.forEach((list, i) => members.heard(`reader-${i}`, list))
    return members.flawOf(['history'], '+', '+')
  }

  it('says which other is missing, is there twice, or counts otherwise', () => {
    expect(flawOfSecondOfThree(listOf([1, 3]), listOf([3, 3]))).to.equal('')
    expect(flawOfSecondOfThree(listOf([1, 3]))).to.equal('there is no member 3 of 3')
    expect(flawOfSecondOfThree(listOf([2, 3]), listOf([3, 3]))).to.equal('two are member 2')
    expect(flawOfSecondOfThree(listOf([1, 3]), listOf([3, 4]))).to.equal('member 2 of 3 beside 3 of 4')
    expect(flawOfSecondOfThree(listOf([1, 3]), listOf())).to.equal('member 2 of 3 beside 1 of 1')
  })

  it('leaves readers of other sinks alone, and forgets one that is gone', () => {
    expect(flawOfSecondOfThree(listOf([1, 3]), listOf([3, 3]), listOf([2, 3], 'other'), listOf(undefined, 'another'))).to.equal('')
    const members = new Members(1, 2)
    members.heard('reader', listOf([2, 2]))
    members.heard('reader', null)
    expect(members.flawOf(['history'], '+', '+')).to.equal('there is no member 2 of 2')
  })

  it('says which sink another member lacks: nobody stores that one\'s gateways there', () => {
    const members = new Members(1, 2)
    members.heard('reader', listOf([2, 2]))
    expect(members.flawOf(['history', 'archive'], '+', '+')).to.equal('there is no member 2 of 2 for sink "archive"')
    members.heard('reader', listOf([2, 2], 'history', 'archive'))
    expect(members.flawOf(['history', 'archive'], '+', '+')).to.equal('')
    members.heard('reader', null)
    expect(members.flawOf(['history', 'archive'], '+', '+')).to.equal('there is no member 2 of 2')
  })

  it('shares nothing with one that reads another gateway or source', () => {
    expect(flawOfSecondOfThree(listOf([1, 3]), { ...listOf([3, 3]), gateway: 'gateway-99' })).to.equal('there is no member 3 of 3')
    expect(flawOfSecondOfThree(listOf([1, 3]), { ...listOf([3, 3]), source: 'press' })).to.equal('there is no member 3 of 3')
  })

  it('and one that reads all say so of each other; two that read all are well', () => {
    const [one, second] = [new Members(1, 1), new Members(2, 2)]
    one.heard('another', listOf())
    expect(one.flawOf(['history'], '+', '+')).to.equal('')
    one.heard('second', listOf([2, 2]))
    second.heard('one', listOf())
    expect(one.flawOf(['history'], '+', '+')).to.equal('member 1 of 1 beside 2 of 2')
    expect(second.flawOf(['history'], '+', '+')).to.equal('member 2 of 2 beside 1 of 1')
  })
})

describe('a consumer that is a member', () => {
  const rig = observed()
  const names = gateways.slice(0, 6)
  const group = 'group:plant'

  /**
   * A reader with a share of the gateways.
   * @param {number} member @param {number} members
   * @param {Set<string>} [seen]  whose batches came
   * @param {Partial<import('../../broker/in/consumer.js').ConsumerOptions>} [options]
   */
  const openMember = (member, members, seen = new Set(), options = {}) => rig.pipeline.openConsumer(['history'], {
    reader: `in-${member}`,
    consumer: group,
    members: new Members(member, members),
    ...options,
    flow: delivery => {
      seen.add(String(delivery.batch.identity?.gateway))
      rig.pipeline.store(delivery, 'history')
    }
  })

  /** @returns {Promise<import('../../broker/out/stage.js').Stage[]>} one of each gateway */
  const openStages = () => Promise.all(names.map(async gateway => {
    const { it: stage } = await rig.pipeline.openStage({ gateway, name: `out-${gateway}` })
    return stage
  }))

  function openDatabase () {
    const database = new FakeDatabase('history')
    rig.pipeline.addSink(database)
    return database
  }

  it('receives its gateways\' batches, and no other member\'s', async () => {
    const database = openDatabase()
    /** @type {Set<string>[]} */
    const seen = [new Set(), new Set()]
    const { it: one } = await openMember(1, 2, seen[0])
    await until(() => one.state.membersFlaw === 'there is no member 2 of 2')
    const { it: two } = await openMember(2, 2, seen[1])
    await until(() => one.state.membersFlaw === '' && two.state.membersFlaw === '')
    const stages = await openStages()
    for (const stage of stages) await rig.pipeline.produce(stage, 10)
    await until(() => database.rows.length === 60 && stages.every(stage => stage.spool.next() === null))
    for (const member of [1, 2]) {
      expect([...seen[member - 1]].sort()).to.deep.equal(names.filter(name => memberOf(name, 2) === member))
    }
    expect(new Set(database.rows).size).to.equal(60)
    expect(database.duplicates).to.equal(0)
  })

  it('stores each batch once while some count two members and others three, and takes over what the third left', async () => {
    const database = openDatabase()
    const first = await openMember(1, 2)
    const second = await openMember(2, 2)
    const stages = await openStages()
    const produce = () => Promise.all(stages.map(stage => rig.pipeline.produce(stage, 10)))
    await produce()
    const third = await openMember(3, 3) // the others still count two
    await produce()
    await first.close()
    await openMember(1, 3)
    await produce()
    await second.close() // until it is back, its gateways wait
    await produce()
    await openMember(2, 3)
    await until(() => database.rows.length === 240 && stages.every(stage => stage.spool.next() === null))
    await third.close()
    await openMember(3, 3)
    await produce()
    await until(() => database.rows.length === 300 && stages.every(stage => stage.spool.next() === null))
    expect(new Set(database.rows).size).to.equal(300)
  })

  it('shares nothing with one that reads only some gateway', async () => {
    openDatabase()
    const { it: one } = await openMember(1, 2)
    await until(() => one.state.membersFlaw === 'there is no member 2 of 2')
    const { it: some } = await openMember(2, 2, new Set(), { reader: 'some', gateway: 'gateway-99' })
    await until(() => some.state.connected)
    const { it: two } = await openMember(2, 2)
    await until(() => one.state.membersFlaw === '' && two.state.membersFlaw === '', () => one.state.membersFlaw)
    expect(some.state.membersFlaw).to.equal('there is no member 1 of 2')
  })

  it('is missed once the broker has lost what its list said, and the others\' come again', async () => {
    openDatabase()
    const { it: one } = await openMember(1, 3)
    await openMember(2, 3)
    const third = await openMember(3, 3)
    await until(() => one.state.membersFlaw === '')
    await third.close()
    await rig.restartBroker()
    await until(() => one.state.membersFlaw === 'there is no member 3 of 3', () => one.state.membersFlaw)
    await openMember(3, 3)
    await until(() => one.state.membersFlaw === '')
  })

  it('that another replaces is forgotten once its list is empty, as docs/scale.md has it', async () => {
    openDatabase()
    const { it: one } = await openMember(1, 2)
    const second = await openMember(2, 2)
    await until(() => one.state.membersFlaw === '')
    await second.close()
    const { it: other } = await openMember(2, 2, new Set(), { reader: 'other' })
    await until(() => one.state.membersFlaw === 'two are member 2' && other.state.membersFlaw === 'two are member 2')
    await rig.observer.client.publishAsync(`sluice/v2/${group}/sinks/in-2`, '', { qos: 1, retain: true })
    await until(() => one.state.membersFlaw === '' && other.state.membersFlaw === '')
  })
})
