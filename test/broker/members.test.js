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

describe('a consumer that is a member', () => {
  const rig = observed()
  const names = gateways.slice(0, 6)
  const group = 'group:plant'

  /**
   * A reader with a share of the gateways.
   * @param {number} member @param {number} members
   * @param {Set<string>} [seen]  whose batches came
   */
  const openMember = (member, members, seen = new Set()) => rig.pipeline.openConsumer(['history'], {
    reader: `in-${member}`,
    consumer: group,
    members: new Members(member, members),
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
    for (const member of [1, 2]) await openMember(member, 2, seen[member - 1])
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
})
