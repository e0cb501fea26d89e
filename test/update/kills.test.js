import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { UpdateRig } from './rig.js'

const KILL_AT = new URL('kill-at.js', import.meta.url).href

/** For a gateway to be healthy: one that is not costs each test so much. */
const WAIT = ['--wait', '3']

describe('sluice update, killed', () => {
  /** @type {UpdateRig} */
  let rig
  beforeEach(async () => {
    rig = new UpdateRig()
    await rig.begin()
  })
  afterEach(() => rig.end())

  /** What the program does, one thing after the other. @param {'healthy'|'liar'} kind */
  async function stepsOf (kind) {
    const steps = join(rig.folder, 'steps')
    await rig.start()
    await rig.update([await rig.release('1.1.0', { kind }), ...WAIT], { NODE_OPTIONS: `--import ${KILL_AT}`, FAKE_STEPS: steps })
    return (await readFile(steps, 'utf8')).trimEnd().split('\n')
  }

  /** Questions to a gateway are all alike: of those in a row, the first and the last. @param {string[]} steps */
  function worthwhile (steps) {
    const isQuestion = (/** @type {number} */ i) => /^request/.test(steps[i] ?? '')
    return steps.map((_, i) => i).filter(i => !(isQuestion(i - 1) && isQuestion(i) && isQuestion(i + 1))).map(i => i + 1)
  }

  /** The gateway runs, old or new, it is decided which, and an update passes. @param {'healthy'|'liar'} kind @param {string} when */
  async function recovers (kind, when) {
    const isDecided = async () => (await rig.state().catch(() => null))?.state !== 'trial' || await rig.current() === '1.0.0'
    await rig.until(isDecided)
    await rig.until(async () => await rig.running() === await rig.current())
    if (kind === 'liar') expect(await rig.running(), when).to.equal('1.0.0')
    expect(await rig.update([await rig.release('1.2.0')]), when).to.include({ code: 0, stderr: '' })
    expect(await rig.running(), when).to.equal('1.2.0')
    expect(await rig.kept(), when).to.have.length(2)
  }

  for (const kind of /** @type {const} */ (['healthy', 'liar'])) {
    it(`at any step, leaves a gateway that runs (the new one is ${kind})`, async () => {
      const steps = await stepsOf(kind)
      for (const step of worthwhile(steps)) {
        await rig.end()
        await rig.begin()
        await rig.start()
        const environment = { NODE_OPTIONS: `--import ${KILL_AT}`, FAKE_KILL_AT: `${step}` }
        const { signal } = await rig.update([await rig.release('1.1.0', { kind }), ...WAIT], environment)
        await recovers(kind, `killed after step ${step}, ${steps[step - 1]}, by ${signal}`)
      }
    })

    it(`at any step, and the machine with it, leaves a gateway that runs (the new one is ${kind})`, async () => {
      const steps = await stepsOf(kind)
      for (const step of worthwhile(steps)) {
        await rig.end()
        await rig.begin()
        await rig.start()
        const environment = { NODE_OPTIONS: `--import ${KILL_AT}`, FAKE_KILL_AT: `${step}` }
        const { signal } = await rig.update([await rig.release('1.1.0', { kind }), ...WAIT], environment)
        await rig.cut()
        await rig.start()
        await recovers(kind, `cut after step ${step}, ${steps[step - 1]}, by ${signal}`)
      }
    })
  }
})
