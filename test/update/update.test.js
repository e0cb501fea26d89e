import { cp, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { create } from 'tar'
import { makeKeys, UpdateRig } from './rig.js'

const KILL_AT = new URL('kill-at.js', import.meta.url).href

describe('sluice update', () => {
  const rig = new UpdateRig()
  beforeEach(() => rig.begin())
  afterEach(() => rig.end())

  /** Nothing is other than before. @param {{code: number|null, stderr: string}} outcome @param {string} code @param {RegExp} text */
  async function refused ({ code: exitCode, stderr }, code, text) {
    expect(stderr).to.match(text).and.to.include(`sluice update: ${code}: `)
    expect(exitCode).to.equal(1)
    expect(await rig.current()).to.equal('1.0.0')
    expect(await rig.kept()).to.deep.equal(['1.0.0'])
  }

  describe('takes a release', () => {
    it('and keeps it when it is healthy, with the one before, and none older', async () => {
      await rig.start()
      const first = await rig.update([await rig.release('1.1.0')])
      expect(first.stderr).to.equal('')
      expect(first).to.include({ code: 0 })
      expect(first.stdout).to.include('Sluice 1.1.0 runs.')
      expect(await rig.running()).to.equal('1.1.0')
      expect(await rig.state()).to.include({ state: 'confirmed', from: '1.0.0', to: '1.1.0', attempts: 1 })
      await rig.keeps('1.0.0', '1.1.0')

      expect(await rig.update([await rig.release('1.10.0-rc.2')])).to.include({ code: 0, stderr: '' })
      expect(await rig.running()).to.equal('1.10.0-rc.2')
      await rig.keeps('1.1.0', '1.10.0-rc.2')
    })

    it('from a folder the newest for this machine, and none that is installed already', async () => {
      await rig.start()
      for (const version of ['1.9.0', '1.10.0', '1.2.0']) await rig.release(version)
      await rig.release('2.0.0', { arch: 's390x' })
      expect(await rig.update([rig.folder])).to.include({ code: 0, stderr: '' })
      expect(await rig.running()).to.equal('1.10.0')
      const again = await rig.update([rig.folder])
      expect(again).to.include({ code: 0, stdout: 'Sluice 1.10.0 is installed already.\n' })
    })

    it('an older one only when told to', async () => {
      await rig.start()
      const tarball = await rig.release('0.9.0')
      await refused(await rig.update([tarball]), 'SLUICE_UPDATE_UNFIT', /0\.9\.0 is older than 1\.0\.0/)
      expect(await rig.update([tarball, '--allow-downgrade'])).to.include({ code: 0 })
      expect(await rig.running()).to.equal('0.9.0')
    })

    it('signed by a key of one\'s own', async () => {
      await rig.start()
      const { publicKey, privateKey } = makeKeys()
      const tarball = await rig.release('1.1.0', { key: privateKey })
      await refused(await rig.update([tarball]), 'SLUICE_UPDATE_SIGNATURE', /is not by .*test\.pub/)
      const key = join(rig.folder, 'own.pub')
      await writeFile(key, publicKey.export({ type: 'spki', format: 'pem' }))
      expect(await rig.update([tarball, '--key', key])).to.include({ code: 0 })
      expect(await rig.running()).to.equal('1.1.0')
    })
  })

  describe('goes back', () => {
    for (const [kind, text] of /** @type {const} */ ([
      ['crashes', 'the gateway did not answer at URL, or its flows did not run'],
      ['no-node', 'its Node does not run on this machine'],
      ['liar', 'another version answered'],
      ['trouble', 'more nodes could not start, or reached nothing, than before']
    ])) {
      it(`by itself from a release that is not healthy (${kind}), and says why`, async () => {
        await rig.start()
        const reason = text.replace('URL', rig.url)
        const { code, stderr } = await rig.update([await rig.release('1.1.0', { kind }), '--wait', '3'])
        expect(stderr).to.include(`SLUICE_UPDATE_RETURNED: Sluice 1.1.0 is given up: ${reason}. 1.0.0 runs again.`)
        expect(code).to.equal(1)
        expect(await rig.running()).to.equal('1.0.0')
        expect(await rig.state()).to.include({ state: 'returned', from: '1.0.0', to: '1.1.0', reason })
        const { stdout } = await rig.run(['--status', '--root', rig.root])
        expect(stdout).to.match(new RegExp(`^Sluice 1.0.0 is what starts.\nThe update from 1.0.0 to 1.1.0, .* was given up: ${reason}.\n$`))
        expect(await rig.update([await rig.release('1.2.0')])).to.include({ code: 0 })
        expect(await rig.running()).to.equal('1.2.0')
        await rig.keeps('1.0.0', '1.2.0')
      })
    }

    it('not from a release with the trouble that there was before', async () => {
      await writeFile(join(rig.root, 'releases', '1.0.0', 'app', 'kind'), 'trouble')
      await rig.start()
      expect(await rig.update([await rig.release('1.1.0', { kind: 'trouble' })])).to.include({ code: 0 })
      expect(await rig.running()).to.equal('1.1.0')
    })

    it('on demand, to the release before, and forth again', async () => {
      await rig.start()
      await rig.update([await rig.release('1.1.0')])
      expect(await rig.update(['--back'])).to.include({ code: 0 })
      expect(await rig.running()).to.equal('1.0.0')
      expect(await rig.update(['--back'])).to.include({ code: 0 })
      expect(await rig.running()).to.equal('1.1.0')
    })

    it('on demand from a release on trial; nothing else is installed meanwhile', async () => {
      await rig.start()
      const updating = rig.update([await rig.release('1.1.0', { kind: 'liar' }), '--wait', '40'])
      await rig.until(async () => await rig.running() === '0.0.1')
      const other = await rig.update([await rig.release('1.2.0')])
      expect(other.stderr).to.include('SLUICE_UPDATE_UNDER_WAY: 1.1.0 is on trial')
      expect((await rig.run(['--status', '--root', rig.root])).stdout).to.include('is on trial')
      const back = await rig.update(['--back'])
      expect(back).to.include({ code: 0, stdout: 'Sluice 1.1.0 is given up. 1.0.0 runs again.\n' })
      expect((await updating).stderr).to.include('1.1.0 is given up: it was given up by hand. 1.0.0 runs again.')
    })

    it('nowhere without a release before', async () => {
      await rig.start()
      await refused(await rig.update(['--back']), 'SLUICE_UPDATE_FILE', /No release before this one is kept/)
    })
  })

  describe('refuses', () => {
    beforeEach(() => rig.start())

    it('what is not signed, or not what was signed', async () => {
      const tarball = await rig.release('1.1.0')
      const bytes = await readFile(tarball)
      await truncate(tarball, bytes.length - 1)
      await refused(await rig.update([tarball]), 'SLUICE_UPDATE_FILE', /is not what was signed/)
      await writeFile(tarball, bytes)

      const newer = tarball.replace('1.1.0', '9.0.0')
      for (const end of ['', '.sha256', '.sha256.sig']) await cp(tarball + end, newer + end)
      await refused(await rig.update([newer]), 'SLUICE_UPDATE_SIGNATURE', /is the file sluice-1\.1\.0/)

      const sums = await readFile(`${tarball}.sha256`, 'utf8')
      await writeFile(`${tarball}.sha256`, sums.replace(/^./, first => first === '0' ? '1' : '0'))
      await refused(await rig.update([tarball]), 'SLUICE_UPDATE_SIGNATURE', /is not by/)
      await rm(`${tarball}.sha256.sig`)
      await refused(await rig.update([tarball]), 'SLUICE_UPDATE_SIGNATURE', /sha256\.sig cannot be read/)
    })

    it('a release for another machine', async () => {
      await refused(await rig.update([await rig.release('1.1.0', { arch: 's390x' })]), 'SLUICE_UPDATE_UNFIT', /is for s390x/)
    })

    it('what is no release', async () => {
      await refused(await rig.update([join(rig.folder, 'nowhere.tar.gz')]), 'SLUICE_UPDATE_FILE', /cannot be read/)
      await refused(await rig.update([rig.root]), 'SLUICE_UPDATE_FILE', /There is no sluice-VERSION-linux/)
      await refused(await rig.update([join(rig.root, 'sluice-boot')]), 'SLUICE_UPDATE_FILE', /is not named like a release/)
    })

    /** @type {[string, (folder: string) => Promise<unknown>, RegExp][]} */
    const spoilt = [
      ['a link', folder => symlink('/etc/passwd', join(folder, 'app', 'link')), /app\/link \(SymbolicLink\)/],
      ['a file that was changed', folder => writeFile(join(folder, 'app', 'kind'), 'liar'), /app\/kind is not what was signed/],
      ['a file too few', folder => rm(join(folder, 'app', 'kind')), /app\/kind is missing/],
      ['a file too many', folder => writeFile(join(folder, 'app', 'more'), ''), /does not know app\/more/],
      ['no sums', folder => rm(join(folder, 'SHA256SUMS')), /it has no SHA256SUMS/]
    ]
    for (const [what, spoil, text] of spoilt) {
      it(`a signed tarball with ${what}`, async () => {
        await refused(await rig.update([await rig.release('1.1.0', { spoil })]), 'SLUICE_UPDATE_FILE', text)
      })
    }

    it('a signed tarball with a path that leads out of its folder', async () => {
      const tarball = await rig.release('1.1.0')
      const made = join(rig.folder, 'made')
      await writeFile(join(made, 'evil'), 'evil')
      const paths = ['sluice-1.1.0', '../made/evil'] // it leads from the top folder to where it lies
      await create({ gzip: true, portable: true, preservePaths: true, cwd: made, file: tarball }, paths)
      await rig.sign(tarball)
      await refused(await rig.update([tarball]), 'SLUICE_UPDATE_FILE', /\.\.\/made\/evil/)
    })

    it('a signed tarball that has another version than it says', async () => {
      const tarball = await rig.release('1.1.0')
      const lying = tarball.replace('1.1.0', '1.1.1')
      await rename(tarball, lying)
      await rig.sign(lying)
      await refused(await rig.update([lying]), 'SLUICE_UPDATE_FILE', /says that it is 1\.1\.0/)
    })

    it('a release for which there is no room', async () => {
      const environment = await rig.preload('fs.statfs = async () => ({ bavail: 1, bsize: 4096 })')
      const outcome = await rig.update([await rig.release('1.1.0')], environment)
      await refused(outcome, 'SLUICE_UPDATE_SPACE', /1\.1\.0 needs .* and 4\.10 kB are free/)
    })

    it('a release during which the disk becomes full, and frees what it took', async () => {
      const environment = await rig.preload(`
        import callbacks from 'node:fs'
        callbacks.write = (...args) => args.at(-1)(Object.assign(new Error('no space left'), { code: 'ENOSPC' }))
      `)
      await refused(await rig.update([await rig.release('1.1.0')], environment), 'SLUICE_DISK_FULL', /The disk of .* is full/)
    })

    it('a release that does not read what is there', async () => {
      const formats = { spool: { writes: 3, reads: [3] } }
      const tarball = await rig.release('2.0.0', { formats })
      await refused(await rig.update([tarball]), 'SLUICE_UPDATE_FORMATS', /2\.0\.0 does not read .*: spool 2/)
    })

    it('a release from which there is no way back, unless that is wanted', async () => {
      const formats = { spool: { writes: 3, reads: [2, 3] }, another: { writes: 1, reads: [1] } }
      const tarball = await rig.release('2.0.0', { formats })
      await refused(await rig.update([tarball]), 'SLUICE_UPDATE_FORMATS', /would not read what 2\.0\.0 writes: spool 3\. .*--one-way/)
      expect(await rig.update([tarball, '--one-way'])).to.include({ code: 0 })
      expect(await rig.running()).to.equal('2.0.0')
    })

    it('two at once', async () => {
      const slow = await rig.preload('fs.statfs = () => new Promise(() => setInterval(() => {}, 1000))')
      const tarball = await rig.release('1.1.0')
      const first = rig.update([tarball], slow)
      let pid = ''
      await rig.until(async () => {
        pid = await readFile(join(rig.root, 'update.pid'), 'utf8').catch(() => '')
        return pid.endsWith('\n')
      })
      const second = await rig.update([tarball])
      process.kill(Number(pid), 'SIGKILL')
      await first
      await refused(second, 'SLUICE_UPDATE_UNDER_WAY', new RegExp(`Process ${pid.trim()} is updating`))
      expect(await rig.update([tarball])).to.include({ code: 0 })
    })

    it('where it may not write, and says what to do', async () => {
      const environment = await rig.preload(`
        import callbacks from 'node:fs'
        const { openSync } = callbacks
        callbacks.openSync = (path, ...more) => {
          if (String(path).endsWith('update.lock')) throw Object.assign(new Error('permission denied'), { code: 'EACCES' })
          return openSync(path, ...more)
        }
      `)
      await refused(await rig.update([await rig.release('1.1.0')], environment), 'SLUICE_UPDATE_WRITE', /permission denied.*sudo/)
    })

    it('where no release is installed, and says what to do', async () => {
      const outcome = await rig.update([await rig.release('1.1.0'), '--root', join(rig.folder, 'nowhere')])
      await refused(outcome, 'SLUICE_UPDATE_PLACE', /there is no link .*nowhere\/current/)
    })

    it('where the release that is started is gone, and says what to do', async () => {
      const tarball = await rig.release('1.1.0')
      const [root, gone] = [join(rig.folder, 'gone'), 'releases/0.9.0']
      await mkdir(join(root, 'releases'), { recursive: true })
      await symlink(gone, join(root, 'current'))
      for (const args of [[tarball], ['--back']]) {
        await refused(await rig.update([...args, '--root', root]), 'SLUICE_UPDATE_PLACE', /leads to 0\.9\.0, which is not in .* ln -sfn/)
      }
    })

    it('arguments that it does not understand', async () => {
      for (const args of [[], ['a', 'b'], ['a', '--back'], ['a', '--wait', '0'], ['a', '--url', 'x'], ['--nothing']]) {
        expect((await rig.run(args)).code).to.equal(2)
      }
    })
  })

  it('starts a gateway that is stopped, where its settings say', async () => {
    const firstBoot = join(rig.root, 'first-boot')
    await mkdir(firstBoot)
    await writeFile(join(firstBoot, 'sluice.env'), `# Made at the first start.\nSLUICE_HOST="127.0.0.2"\nSLUICE_PORT=${rig.port}\n`)
    rig.host = '127.0.0.2'
    const started = rig.run([await rig.release('1.1.0'), '--root', rig.root, '--restart', 'true', '--wait', '8'])
    await rig.until(async () => await rig.current() === '1.1.0')
    await rig.start()
    const { code, stdout } = await started
    expect(stdout).to.include(`No gateway runs at ${rig.url}; if it is to be elsewhere, say so with --url.\n`)
    expect(code).to.equal(0)
    expect(await rig.running()).to.equal('1.1.0')
  })

  it('makes room of what was interrupted or given up, and keeps the release before', async () => {
    await rig.start()
    await rig.update([await rig.release('1.1.0')])
    for (const name of ['.unpacking', '1.2.0']) await mkdir(join(rig.root, 'releases', name))
    const environment = await rig.preload('fs.statfs = async () => ({ bavail: 1, bsize: 4096 })')
    expect((await rig.update([await rig.release('1.3.0')], environment)).stderr).to.include('SLUICE_UPDATE_SPACE')
    expect(await rig.kept()).to.deep.equal(['1.0.0', '1.1.0'])
  })

  it('goes on where a disk has damaged what it knew of the last', async () => {
    await rig.start()
    await writeFile(join(rig.root, 'update.json'), '\0'.repeat(4096))
    expect(await rig.boot()).to.deep.equal({ code: 0, stderr: '' })
    expect(await rig.update([await rig.release('1.1.0')])).to.include({ code: 0, stderr: '' })
    expect(await rig.running()).to.equal('1.1.0')
  })

  it('has hooks for the tests of kills', async () => {
    const steps = join(rig.folder, 'steps')
    await rig.start()
    const environment = { NODE_OPTIONS: `--import ${KILL_AT}`, FAKE_STEPS: steps }
    expect(await rig.update([await rig.release('1.1.0')], environment)).to.include({ code: 0 })
    const done = await readFile(steps, 'utf8')
    for (const step of ['mkdir', 'rename', 'symlink', 'request', 'spawn', 'execFile']) expect(done).to.include(`${step} `)
  })
})
