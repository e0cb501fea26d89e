import { expect } from 'chai'
import { join } from 'node:path'
import { counterOf, markOf } from '../../gateway/batch/epochs.js'
import { spoolMark } from '../../broker/spool-mark.js'
import { batchOf, headOf, Rig, stored } from './spool-rig.js'

describe('spool, of many sources', () => {
  const rig = new Rig()
  beforeEach(() => rig.begin())
  afterEach(() => rig.end())

  it('refuses the 1001st source while batches of all are held, and takes it once some have nothing here', async () => {
    rig.require('sink')
    const spool = await rig.open()
    const all = (await Promise.all(Array.from({ length: 1000 }, (_, i) => spool.append(batchOf(i, 0, `s${i}`))))).flat()
    const refused = await spool.append(batchOf(0, 0, 'one more')).catch(error => error)
    expect(refused).to.include({ code: 'SLUICE_SOURCE_COUNT' })
    const epochs = Object.assign({}, ...all.slice(0, 1000).map(identity => stored([identity]).epochs))
    await spool.confirm('sink', { store: 'db', epochs })
    await spool.reclaim()
    expect(spool.batches).to.equal(0)
    for (let i = 0; i < 100; i++) await spool.append(batchOf(i, 0, `new ${i}`))
    expect(spool.head.sources).to.have.length(1000)
    expect((await spool.append(batchOf(5, 0, 's5')))[0]).to.include({ epoch: all[5].epoch, seq: 1, before: 1 })
  })

  it('remembers totals of sources that made room, also over a restart', async () => {
    let spool = await rig.open({ whenFull: 'drop-oldest' })
    await spool.append(batchOf(0, 0, 'early', 7))
    await spool.dropOldest()
    for (let i = 0; i < 1000; i++) await spool.append(batchOf(i, 0, `s${i}`))
    expect(() => headOf(spool, 'early')).to.throw()
    expect(spool.counters).to.include({ droppedBatches: 1, droppedRows: 7 })
    await rig.close(spool)
    spool = await rig.open()
    expect(spool.counters).to.include({ droppedBatches: 1, droppedRows: 7 })
    await spool.dropOldest()
    expect((await spool.append(batchOf(1, 0, 'early')))[0].before).to.equal(7)
    expect(headOf(spool, 'early')).to.include({ rows: 8, dropped: 7 })
  })

  it('does not take up again the sources that rest because the broker still knows them', async () => {
    const spool = await rig.open({ whenFull: 'drop-oldest' })
    const [{ epoch }] = await spool.append(batchOf(0, 0, 'early', 7))
    await spool.dropOldest()
    for (let i = 0; i < 1000; i++) await spool.append(batchOf(i, 0, `s${i}`))
    const epochs = [{ epoch, first: 0, last: 0, before: 0, rows: 7 }]
    spool.heard({ sources: [{ source: 'early', rows: 7, epochs }] })
    expect(spool.head.sources).to.have.length(1000)
    spool.heard({ sources: [{ source: 'early', rows: 8, epochs: [{ ...epochs[0], last: 1, rows: 8 }] }] })
    expect(headOf(spool, 'early')).to.include({ rows: 8, lost: 1 })
  })

  it('names in its head what was produced of sources of which all is stored, also after a restart', async () => {
    rig.require('sink')
    let spool = await rig.open()
    const all = await spool.append(batchOf(0, 0, 'press', 5))
    await spool.confirm('sink', stored(all))
    await spool.reclaim()
    await rig.close(spool)
    spool = await rig.open()
    expect(spool.bytes).to.equal(0)
    expect(headOf(spool)).to.include({ rows: 5, lost: 0 })
  })

  it('names in its head those first that hold the oldest', async () => {
    rig.require('sink')
    const spool = await rig.open({ segmentBytes: 1 })
    const [early] = await spool.append(batchOf(0, 0, 'early'))
    await spool.append(batchOf(1, 0, 'mill'))
    await spool.append(batchOf(2, 0, 'early'))
    await spool.append(batchOf(3, 0, 'late'))
    const names = () => spool.head.sources.map(({ source }) => source)
    expect(names()).to.deep.equal(['early', 'mill', 'late'])
    await spool.confirm('sink', stored([early]))
    expect(names()).to.deep.equal(['mill', 'early', 'late'])
  })

  it('begins the names of its epochs with what tells it from other spools of the gateway', async () => {
    const names = []
    for (const name of ['one', 'two']) {
      const spool = await rig.open({ name, folder: join(rig.root, name) })
      const [first] = await spool.append(batchOf(0))
      const [again] = await spool.restage([first])
      for (const { epoch } of [first, again]) expect(epoch).to.match(new RegExp(`^\\d+-${spoolMark(name)}[0-9a-f]{8}$`))
      names.push(first.epoch)
    }
    expect(markOf(names[0])).to.not.equal(markOf(names[1]))
  })

  it('takes any name for a source', async () => {
    let spool = await rig.open()
    const names = ['100%', '..', 'a/b', '__proto__', '"', ' ', 'größe', 'x'.repeat(200)]
    for (const name of names) await spool.append(batchOf(1, 0, name))
    const tooLong = await spool.append(batchOf(1, 0, 'x'.repeat(201))).catch(error => error)
    expect(tooLong).to.include({ code: 'SLUICE_SOURCE_NAME' })
    for (const name of ['a\0b', '\ud83d']) { // which would come back as another name, or be refused for ever
      expect(await spool.append(batchOf(1, 0, name)).catch(error => error)).to.include({ code: 'SLUICE_SOURCE_NAME' })
    }
    await rig.close(spool)
    spool = await rig.open()
    expect(spool.head.sources.map(({ source }) => source).sort()).to.deep.equal(names.sort())
    expect(await rig.readAll(spool)).to.have.length(names.length)
  })

  it('counts on after a backup was played back, and takes for lost only what it still held then', async () => {
    let spool = await rig.open()
    const [{ epoch }] = await rig.fill(spool, 2)
    await rig.close(spool)
    spool = await rig.open()
    const later = `${counterOf(epoch) + 1}-aaaaaaaa`
    spool.heard({ sources: [{ source: 'press', rows: 9, epochs: [{ epoch: later, first: 4, last: 3, before: 9, rows: 9 }] }] })
    expect(spool.counters, 'all of it stored').to.include({ lostBatches: 0, lostRows: 0 })
    expect(headOf(spool, 'press')).to.include({ rows: 9 })
    spool.heard({ sources: [{ source: 'press', rows: 12, epochs: [{ epoch: later, first: 5, last: 6, before: 10, rows: 12 }] }] })
    expect(spool.counters).to.include({ lostBatches: 2, lostRows: 2 })
    const [next] = await spool.append(batchOf(7))
    expect(next).to.include({ before: 12 })
  })
})
