import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { LOOK_BACK_MS } from '../../gateway/batch/numbering.js'
import { decode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { batchOf, StageRig } from './stage-rig.js'

/** @typedef {import('../../broker/out/stage.js').Stage} Stage */

/** @param {Stage} stage @param {{source: string, epoch: string, seq: number}} name */
async function ordinalsOf (stage, name) {
  const { ordinals } = decode(/** @type {any} */ (await stage.spool.read(name)).payload)
  return ordinals && [...ordinals]
}

/** @param {Stage} stage @param {import('../../gateway/batch/batch.js').Batch} batch */
async function staged (stage, batch) {
  const identities = await stage.append(batch)
  return Promise.all(identities.map(identity => ordinalsOf(stage, identity)))
}

describe('rows of the same tags and time that are staged', () => {
  /** @type {StageRig} */
  let rig
  beforeEach(async () => { rig = await StageRig.create() })
  afterEach(() => rig.stop())

  it('are numbered over batches, once and for all: also when they are staged again in halves', async () => {
    const { stage } = await rig.openStage()
    expect(await staged(stage, batchOf(1))).to.deep.equal([null])
    const [identity] = await stage.append(batchOf(1, 'press', 2))
    expect(await ordinalsOf(stage, identity)).to.deep.equal([1, 0])
    const halves = await stage.spool.restage([identity], { inHalves: true })
    expect(await Promise.all(halves.map(half => ordinalsOf(stage, half)))).to.deep.equal([[1], [0]])
    expect(await staged(stage, batchOf(1))).to.deep.equal([[2]])
  })

  it('keep their numbers in the records that a long batch is cut into', async () => {
    const { stage } = await rig.openStage()
    const long = batchOf(1, 'press', 30_000)
    expect((await staged(stage, long)).every(ordinals => ordinals === null)).to.equal(true)
    const ordinals = await staged(stage, long)
    expect(ordinals.length).to.be.greaterThan(1)
    expect(ordinals.flat()).to.deep.equal(Array(30_000).fill(1))
  })

  it('are still known after a kill, as far as the spool has them', async () => {
    const { stage, close } = await rig.openStage()
    await stage.append(batchOf(1))
    await stage.append(batchOf(1))
    await close()
    const again = await rig.openStage()
    expect(await staged(again.stage, batchOf(1))).to.deep.equal([[2]])
    expect(await staged(again.stage, batchOf(2))).to.deep.equal([null])
  })

  /** What is staged next begins a file of its own. @param {number} value @param {number} agoMs  that its file was written to */
  async function stagedAgo (value, agoMs) {
    const { stage, close } = await rig.openStage()
    await stage.append(batchOf(value))
    await close()
    const folder = join(rig.folder, 'spool')
    const at = new Date(Date.now() - agoMs)
    const [newest] = (await readdir(folder)).filter(name => name.endsWith('.segment')).sort().slice(-1)
    await utimes(join(folder, newest), at, at)
  }

  it('are still known after a kill, whatever the clock has been set to meanwhile', async () => {
    for (const agoMs of [3_600_000, -3_600_000]) {
      await stagedAgo(agoMs, agoMs)
      const { stage, close } = await rig.openStage()
      expect(await staged(stage, batchOf(agoMs)), `${agoMs}`).to.deep.equal([[1]])
      await close()
    }
  })

  it('are not looked for in what was staged long before all else', async () => {
    await stagedAgo(1, LOOK_BACK_MS + 1000)
    await stagedAgo(2, 0)
    const { stage } = await rig.openStage()
    expect(await staged(stage, batchOf(1))).to.deep.equal([null])
    expect(await staged(stage, batchOf(2))).to.deep.equal([[1]])
  })

  it('take no number when the spool does not accept them', async () => {
    const { stage } = await rig.openStage()
    const { append } = stage.spool
    stage.spool.append = () => Promise.reject(new Error('full'))
    for (let tries = 0; tries < 3; tries++) expect(await stage.append(batchOf(1)).catch(error => error.message)).to.equal('full')
    stage.spool.append = append
    expect(await staged(stage, batchOf(1))).to.deep.equal([null])
  })
})
