import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { UpdateRig } from './rig.js'

const KILL_AT = new URL('kill-at.js', import.meta.url).href

/** For a gateway to be healthy: one that is not costs each test so much. */
const WAIT = ['--wait', '3']
const AT_ONCE = 12

describe('sluice update, killed', () => {
  /** @type {Set<UpdateRig>} */
  const rigs = new Set()
  afterEach(async () => {
    for (const rig of rigs) await rig.end()
    rigs.clear()
  })

  /**
   * Updates until it is killed after a step.
   * @param {'healthy'|'liar'} kind  of the new release
   * @param {NodeJS.ProcessEnv} environment
   */
  async function updated (kind, environment) {
    const rig = new UpdateRig()
    rigs.add(rig)
    await rig.begin()
    await rig.start()
    await rig.update([await rig.release('1.1.0', { kind }), ...WAIT], { NODE_OPTIONS: `--import ${KILL_AT}`, ...environment })
    return rig
  }

  /** What the program does, one thing after the other. @param {'healthy'|'liar'} kind */
  async function stepsOf (kind) {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-steps-'))
    const file = join(folder, 'steps')
    await updated(kind, { FAKE_STEPS: file })
    const steps = (await readFile(file, 'utf8')).trimEnd().split('\n')
    await rm(folder, { recursive: true })
    return steps
  }

  /** Questions to a gateway change nothing: of those in a row, the last is enough. @param {string[]} steps */
  function numbers (steps) {
    const isQuestion = (/** @type {number} */ i) => /^request/.test(steps[i] ?? '')
    return steps.map((_, i) => i).filter(i => !(isQuestion(i) && isQuestion(i + 1))).map(i => i + 1)
  }

  /**
   * The gateway runs, old or new, it is decided which, and an update passes.
   * @param {UpdateRig} rig
   * @param {'healthy'|'liar'} kind
   */
  async function recovers (rig, kind) {
    await rig.until(async () => await rig.running() !== null)
    // Where nobody is left who would restart it, the old one runs on until somebody does.
    if (await rig.running() === '1.0.0' && await rig.current() === '1.1.0') await rig.restart()
    await rig.until(async () => {
      const state = await rig.state().catch(() => null)
      return state === null || state.state === 'confirmed' || state.state === 'returned' || await rig.current() === '1.0.0'
    })
    await rig.until(async () => await rig.running() === await rig.current())
    if (kind === 'liar') expect(await rig.running()).to.equal('1.0.0')
    expect(await rig.update([await rig.release('1.2.0'), '--wait', '600'])).to.include({ code: 0, stderr: '' })
    expect(await rig.running()).to.equal('1.2.0')
    await rig.until(async () => (await rig.kept()).length === 2)
  }

  /**
   * @param {'healthy'|'liar'} kind
   * @param {string[]} steps
   * @param {number[]} wanted  after which it is killed
   * @param {(rig: UpdateRig) => Promise<void>} then  before it is looked at
   */
  async function killAll (kind, steps, wanted, then) {
    const left = wanted.values()
    const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, async () => {
      for (const step of left) {
        try {
          const rig = await updated(kind, { FAKE_KILL_AT: `${step}` })
          await then(rig)
          await recovers(rig, kind)
          await rig.end()
          rigs.delete(rig)
        } catch (error) {
          throw new Error(`killed after step ${step}, ${steps[step - 1]}`, { cause: error })
        }
      }
    }))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  /** Of those steps the ones from the switch on: until then it does not matter how the new release is. @param {string[]} steps */
  function later (steps) {
    const first = steps.findIndex(step => /^rename .*update\.json/.test(step)) + 1
    return numbers(steps).filter(step => step >= first)
  }

  it('at any step before the switch leaves the gateway that runs', async () => {
    const steps = await stepsOf('healthy')
    const [first] = later(steps)
    await killAll('healthy', steps, numbers(steps).filter(step => step < first), async rig => {
      expect(await rig.running()).to.equal('1.0.0')
    })
  })

  for (const kind of /** @type {const} */ (['healthy', 'liar'])) {
    it(`at any step from the switch on leaves a gateway that runs (the new one is ${kind})`, async () => {
      const steps = await stepsOf(kind)
      await killAll(kind, steps, later(steps), async () => {})
    })

    it(`at any step from the switch on, and the machine with it, leaves a gateway that runs (the new one is ${kind})`, async () => {
      const steps = await stepsOf(kind)
      await killAll(kind, steps, later(steps), async rig => {
        await rig.cut()
        await rig.start()
      })
    })
  }
})
