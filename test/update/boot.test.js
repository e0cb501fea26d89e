import { chmod, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { Installation } from '../../gateway/update/installation.js'
import { UpdateRig } from './rig.js'

describe('The start-up script of an installation', () => {
  const rig = new UpdateRig()
  /** @type {Installation} */
  let installation

  beforeEach(async () => {
    await rig.begin()
    installation = new Installation(rig.root)
  })
  afterEach(() => rig.end())

  /**
   * As an update leaves it just before the gateway restarts.
   * @param {Partial<import('../../gateway/update/installation.js').State>} [more]
   */
  async function begun (more = {}) {
    await rig.release('1.1.0')
    await rm(join(rig.root, 'releases', '1.1.0'), { recursive: true, force: true })
    await symlink(join(rig.folder, 'made', 'sluice-1.1.0'), join(rig.root, 'releases', '1.1.0'))
    await onTrial(more)
  }

  /** @param {Partial<import('../../gateway/update/installation.js').State>} [more] */
  async function onTrial (more = {}) {
    await installation.save({
      state: 'trial', from: '1.0.0', to: '1.1.0', since: '2026-11-23T00:00:00.000Z', attempts: 0, started: '', waitSeconds: 120,
      url: rig.url, trouble: 0, reason: '', ...more
    })
    await installation.switchTo('1.1.0')
  }

  /** @param {string} name @param {string} file */
  const system = async (name, file) => (await readFile(file, 'utf8')).trim().split(/[. ]/)[0] || name
  const runOfMachine = () => system('boot', '/proc/sys/kernel/random/boot_id')
  const uptime = async () => Number(await system('0', '/proc/uptime'))

  it('changes nothing where there was no update, and where it is decided', async () => {
    expect(await rig.boot()).to.deep.equal({ code: 0, stderr: '' })
    await begun({ state: 'confirmed' })
    const text = await readFile(join(rig.root, 'update.json'), 'utf8')
    for (let start = 0; start < 5; start++) expect(await rig.boot()).to.deep.equal({ code: 0, stderr: '' })
    expect(await readFile(join(rig.root, 'update.json'), 'utf8')).to.equal(text)
    expect(await rig.current()).to.equal('1.1.0')
  })

  it('gives a release three starts, and then the one before', async () => {
    await begun()
    for (let start = 1; start <= 3; start++) {
      expect(await rig.boot()).to.deep.equal({ code: 0, stderr: '' })
      expect(await rig.current()).to.equal('1.1.0')
      const { state, attempts, started } = await rig.state()
      expect({ state, attempts }).to.deep.equal({ state: 'trial', attempts: start })
      expect(started.split(' ')[0]).to.equal(await runOfMachine())
    }
    const { stderr } = await rig.boot()
    expect(stderr).to.equal('Sluice 1.1.0 is given up, and 1.0.0 starts again: it was not healthy after 3 starts.\n')
    expect(await rig.current()).to.equal('1.0.0')
    expect(await rig.state()).to.include({ state: 'returned', reason: 'it was not healthy after 3 starts', attempts: 3, url: rig.url })
    expect(await rig.boot()).to.deep.equal({ code: 0, stderr: '' })
    expect(await rig.current()).to.equal('1.0.0')
  })

  it('gives it up at the next start once its time is over, in the same run of the machine', async () => {
    const [run, now] = [await runOfMachine(), await uptime()]
    await begun({ attempts: 1, started: `${run} ${now - 200}`, waitSeconds: 1000 })
    await rig.boot()
    expect(await rig.current()).to.equal('1.1.0')
    await begun({ attempts: 1, started: `another-run ${now - 200}`, waitSeconds: 120 })
    await rig.boot()
    expect(await rig.current()).to.equal('1.1.0')
    expect((await rig.state()).started.split(' ')[0]).to.equal(run)
    await begun({ attempts: 1, started: `${run} ${now - 200}`, waitSeconds: 120 })
    await rig.boot()
    expect(await rig.current()).to.equal('1.0.0')
    expect(await rig.state()).to.include({ state: 'returned', reason: 'it was not healthy in time' })
  })

  it('goes back at once where its Node does not run', async () => {
    await begun()
    await chmod(join(rig.folder, 'made', 'sluice-1.1.0', 'bin', 'node'), 0o644)
    await rig.boot()
    expect(await rig.current()).to.equal('1.0.0')
    expect(await rig.state()).to.include({ state: 'returned', reason: 'its Node does not run on this machine' })
  })

  it('ends what was interrupted on the way back', async () => {
    await begun({ state: 'returning', reason: 'another version answered' })
    await rig.boot()
    expect(await rig.current()).to.equal('1.0.0')
    expect(await rig.state()).to.include({ state: 'returned', reason: 'another version answered' })
  })

  it('does at the next start what is left, wherever it is killed on the way back', async () => {
    await begun()
    let programs = 1
    do {
      await onTrial({ attempts: 3 })
      const isKilled = await rig.killBoot(programs)
      expect(await rig.kept()).to.include(await rig.current())
      await rig.boot()
      expect(await rig.current(), `killed after ${programs} programs`).to.equal('1.0.0')
      expect(await rig.boot()).to.deep.equal({ code: 0, stderr: '' })
      if (!isKilled) break
    } while (++programs < 100)
    expect(programs).to.be.within(15, 50)
    expect(await rig.state()).to.include({ state: 'returned', reason: 'it was not healthy after 3 starts' })
  })

  it('stays with the release on trial where there is none to go back to', async () => {
    await begun({ attempts: 3 })
    await rm(join(rig.root, 'releases', '1.0.0'), { recursive: true })
    for (const args of [[], ['decide']]) expect((await rig.boot(...args)).code).to.equal(0)
    expect(await rig.current()).to.equal('1.1.0')
  })

  it('lets a gateway go on of which nothing can be decided, on a disk that takes no more writes', async () => {
    await rig.start()
    const full = await rig.preload('fs.rename = async () => { throw Object.assign(new Error("read-only"), { code: "EROFS" }) }')
    await begun({ waitSeconds: 1 })
    const { code, stderr } = await rig.run(['--decide', '--root', rig.root], full)
    expect(stderr).to.include('read-only')
    expect(code).to.equal(0)
    expect(await rig.state()).to.include({ state: 'trial' })
    expect(await rig.running()).to.equal('1.0.0')
  })

  it('does not count before the switch', async () => {
    await begun()
    await installation.switchTo('1.0.0')
    await rig.boot()
    expect(await rig.state()).to.include({ state: 'trial', attempts: 0 })
    expect(await rig.current()).to.equal('1.0.0')
  })

  it('is the one of the newest release that was healthy', async () => {
    await rig.start()
    const tarball = await rig.release('1.1.0')
    await writeFile(join(rig.root, 'sluice-boot'), '#!/bin/sh\n# an old one\n')
    expect(await rig.update([tarball])).to.include({ code: 0 })
    expect(await readFile(join(rig.root, 'sluice-boot'), 'utf8')).to.equal(await readFile('packaging/update/sluice-boot', 'utf8'))
    expect(await rig.boot()).to.deep.equal({ code: 0, stderr: '' })
  })
})
