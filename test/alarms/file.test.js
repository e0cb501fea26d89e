import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { AlarmFile } from '../../gateway/alarms/file.js'

describe('The file of alarms', () => {
  /** @type {string} */
  let folder
  /** @type {string} */
  let path
  /** @type {string[]} */
  let warnings

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-alarms-'))
    path = join(folder, 'sluice', 'alarms.json')
    warnings = []
  })

  afterEach(() => rm(folder, { recursive: true, force: true }))

  const open = () => new AlarmFile(path, text => warnings.push(text))
  const kept = (/** @type {number} */ count) => () => ({ alarms: [], more: {}, counts: { lost: count } })

  it('has what was saved last, for its owner alone', async () => {
    expect(open().kept).to.equal(null)
    await open().save(kept(1))
    expect(open().kept).to.deep.equal(kept(1)())
    expect((await stat(path)).mode & 0o777).to.equal(0o600)
    expect(warnings).to.deep.equal([])
  })

  it('is read as an earlier version has left it', async () => {
    await open().save(kept(1))
    await writeFile(path, JSON.stringify({ alarms: [], counts: { lost: 1 } }))
    expect(open().kept).to.deep.equal(kept(1)())
  })

  it('is written only when something has changed', async () => {
    const file = open()
    await file.save(kept(1))
    await file.save(kept(2))
    expect(open().kept).to.deep.equal(kept(1)())
    file.changed()
    await file.save(kept(3))
    expect(open().kept).to.deep.equal(kept(3)())
  })

  it('is forgotten when it is damaged, with a warning', async () => {
    await open().save(kept(1))
    await writeFile(path, (await readFile(path, 'utf8')).slice(0, 9))
    expect(open().kept).to.equal(null)
    expect(warnings.join()).to.match(/^The alarms of before are forgotten: /)
  })

  it('is forgotten when it has something else than alarms, with a warning', async () => {
    for (const alarms of [[{ kind: 'spool', id: 'spool:stage:x' }], [null], 'none', {}]) {
      await open().save(kept(1))
      await writeFile(path, JSON.stringify({ alarms, counts: {} }))
      warnings = []
      expect(open().kept, JSON.stringify(alarms)).to.equal(null)
      expect(warnings.join()).to.match(/^The alarms of before are forgotten: /)
    }
  })

  it('is written once it can be, with one warning until then', async () => {
    const file = open()
    await writeFile(join(folder, 'sluice'), 'no folder')
    await file.save(kept(1))
    await file.save(kept(1))
    expect(warnings).to.have.length(1)
    await rm(join(folder, 'sluice'))
    await file.save(kept(1))
    expect(open().kept).to.deep.equal(kept(1)())
  })

  describe('on a full disk', () => {
    const ballast = () => join(folder, 'sluice', 'ballast')

    let isMounted = false

    beforeEach(async function () {
      await mkdir(join(folder, 'sluice'))
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', join(folder, 'sluice')], { stdio: 'pipe' })
        isMounted = true
      } catch (error) {
        console.log(`        skipped: no disk of its own can be mounted here: ${/** @type {Error} */ (error).message.split('\n').at(-2)}`)
        this.skip()
      }
    })
    afterEach(() => {
      if (isMounted) execFileSync('umount', [join(folder, 'sluice')])
      isMounted = false
    })

    /** Takes all the room there is. */
    async function fill () {
      const error = await writeFile(ballast(), Buffer.alloc(2 ** 20)).catch(({ code }) => code)
      expect(error).to.equal('ENOSPC')
    }

    it('keeps the alarms of just that time, over a restart, and has them in one place once there is room', async () => {
      const file = open()
      await file.save(kept(1))
      await fill()
      for (let count = 2; count < 5; count++) {
        file.changed()
        await file.save(kept(count))
      }
      expect(warnings).to.deep.equal([])
      expect(open().kept).to.deep.equal(kept(4)())
      expect((await stat(`${path}.reserve`)).mode & 0o777).to.equal(0o600)
      const next = open()
      await rm(ballast())
      await next.save(kept(5))
      expect(JSON.parse(await readFile(path, 'utf8'))).to.deep.equal(kept(5)())
      expect(open().kept).to.deep.equal(kept(5)())
    })

    it('has what was before where a power cut leaves half of what was written last', async () => {
      const file = open()
      await file.save(kept(1))
      await fill()
      file.changed()
      await file.save(kept(2))
      await writeFile(`${path}.reserve`, `{"alarms": [${' '.repeat(1000)}`)
      expect(open().kept).to.deep.equal(kept(1)())
    })

    it('says once that alarms cannot be kept where no room was kept for them', async () => {
      await fill()
      const file = open()
      await file.save(kept(1))
      await file.save(kept(2))
      expect(warnings).to.have.length(1)
      expect(warnings[0]).to.match(/^Alarms cannot be kept over a restart: .*ENOSPC/)
      await rm(ballast())
      await file.save(kept(3))
      expect(open().kept).to.deep.equal(kept(3)())
    })
  })

  it('makes room for itself where an earlier version has left alarms, though none change', async () => {
    await open().save(kept(1))
    await rm(`${path}.reserve`)
    await open().save(kept(1))
    expect((await stat(`${path}.reserve`)).size).to.equal(32_768)
  })

  it('does not bring back a folder of data that is gone', async () => {
    const file = open()
    await rm(folder, { recursive: true })
    await file.save(kept(1))
    expect(await stat(folder).catch(({ code }) => code)).to.equal('ENOENT')
  })
})
