import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { deadLetters } from '../../gateway/cli/dead-letters.js'
import { deadLetter } from '../../gateway/dead-letters/dead-letter.js'
import { DeadLetterDesk } from '../../gateway/dead-letters/desk.js'
import { FILE_NAME, deadLettersFolder, openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { requestReplay, watchRequests } from '../../gateway/dead-letters/replay-requests.js'
import { batchOf } from '../writer/fake-sink.js'

const KEY = 'gw/press/1-a/7/1'

describe('sluice dead-letters', () => {
  /** @type {string} */
  let userDir
  /** @type {string} */
  let folder
  beforeEach(async () => {
    userDir = await mkdtemp(join(tmpdir(), 'sluice-command-'))
    folder = deadLettersFolder(userDir, 'plant/db')
    const letters = await openDeadLetterQueue(folder)
    await letters.append([0, 1].map(row => deadLetter(batchOf([NaN, 2.5], 7), row, new Error('not\nallowed'))))
    await letters.close()
  })
  afterEach(() => rm(userDir, { recursive: true, force: true }))

  /** @param {string[]} args */
  async function run (...args) {
    const [stdout, stderr] = [collector(), collector()]
    const code = await deadLetters([...args, '--user-dir', userDir], { stdin: Readable.from([]), stdout, stderr })
    return { code, stdout: stdout.text, stderr: stderr.text }
  }

  it('lists them', async () => {
    const { code, stdout } = await run('list')
    expect(code).to.equal(0)
    const [head, first, second, ...more] = stdout.split('\n')
    expect(head).to.match(/^WHEN +SINK +SOURCE +KEY +REASON$/)
    expect(first).to.match(/^20\S+Z +plant\/db +press +gw\/press\/1-a\/7\/0 +not allowed$/)
    expect(second).to.include(KEY)
    expect(more).to.deep.equal([''])
  })

  it('lists those of sinks with long names in any script', async () => {
    const names = ['ü'.repeat(255), `${'x'.repeat(255)}.`, `${'x'.repeat(255)}..`, `.${'x'.repeat(252)}`, '.'.repeat(255)]
    for (const name of names) {
      const letters = await openDeadLetterQueue(deadLettersFolder(userDir, name))
      await letters.append([deadLetter(batchOf([1], 7), 0, new Error('no'))])
      await letters.close()
    }
    const { stdout } = await run('list', '--json')
    expect(stdout.trim().split('\n').map(line => JSON.parse(line).sink)).to.have.members(['plant/db', 'plant/db', ...names])
    expect((await readdir(join(userDir, 'sluice'))).sort()).to.deep.equal(['dead-letters'])
    const { stdout: one } = await run('list', '--json', '--sink', names[0])
    expect(one.trim().split('\n')).to.have.length(1)
  })

  it('calls those of a sink without a name as the live page does, and knows it by its node, as its folder is called, too', async () => {
    const names = { '16dc29069ea3080e': 'postgresql', '26dc29069ea3080e': 'plant 2', '36dc29069ea3080e': 'stage in' }
    await writeFile(join(userDir, 'sluice', 'node-names.json'), JSON.stringify(names))
    for (const [i, key] of ['16dc29069ea3080e', 'plant (26dc29069ea3080e)', '36dc29069ea3080e (refused)'].entries()) {
      const letters = await openDeadLetterQueue(deadLettersFolder(userDir, key))
      await letters.append([deadLetter(batchOf([1], 8 + i), 0, new Error('no'))])
      await letters.close()
    }
    const sinksOf = (/** @type {string} */ lines) => lines.trim().split('\n').map(line => JSON.parse(line).sink)
    const all = ['plant 2', 'plant/db', 'plant/db', 'postgresql', 'stage in (refused)']
    expect(sinksOf((await run('list', '--json')).stdout)).to.deep.equal(all)
    for (const sink of ['postgresql', '16dc29069ea3080e']) {
      expect(sinksOf((await run('list', '--json', '--sink', sink)).stdout)).to.deep.equal(['postgresql'])
    }
  })

  it('lists them for a program, one JSON object a line', async () => {
    const { stdout } = await run('list', '--json', '--sink', 'plant/db')
    const letters = stdout.trim().split('\n').map(line => JSON.parse(line))
    expect(letters.map(({ sink, values }) => [sink, values])).to.deep.equal([['plant/db', ['NaN']], ['plant/db', [2.5]]])
  })

  it('shows one in full', async () => {
    const { code, stdout } = await run('show', KEY)
    expect(code).to.equal(0)
    expect(stdout).to.match(/reason +not allowed\n/)
    expect(stdout).to.match(/time +2023-11-14T22:13:20.000000001Z \(1700000000000000001 ns\)/)
    expect(stdout).to.match(/field force +2.5 {2}float64, N\n/)
  })

  it('says what it cannot find, and what it does not understand', async () => {
    const unknown = await run('show', 'nobody')
    expect(unknown).to.deep.include({ code: 1, stdout: '' }).and.have.property('stderr').that.includes('no dead letter "nobody"')
    expect(await run('list', '--sink', 'other')).to.deep.include({ code: 1 }).and.have.property('stderr').that.includes('No sink "other"')
    for (const args of [[], ['drop'], ['list', 'it'], ['show'], ['replay'], ['replay', KEY, '--all'], ['list', '--colour']]) {
      const { code, stdout, stderr } = await run(...args)
      expect([code, stdout], args.join(' ')).to.deep.equal([2, ''])
      expect(stderr).to.include('Usage: sluice dead-letters')
    }
  })

  it('has nothing to list where nothing was refused', async () => {
    await rm(folder, { recursive: true })
    expect(await run('list')).to.deep.equal({ code: 0, stdout: 'No dead letters.\n', stderr: '' })
  })

  it('has the running gateway replay them', async () => {
    const letters = await openDeadLetterQueue(folder)
    /** @type {number[]} */
    const rows = []
    const desk = new DeadLetterDesk(() => [['plant/db', letters]], async batch => { rows.push(batch.rows) })
    const watch = watchRequests(folder, keys => desk.replay({ keys: keys ?? undefined }), { pollMs: 10 })
    expect(await run('replay', 'nobody')).to.deep.include({ code: 1 })
    expect(await run('replay', KEY)).to.deep.equal({ code: 0, stdout: 'Replayed 1 row.\n', stderr: '' })
    expect(letters.keys).to.deep.equal(['gw/press/1-a/7/0'])
    expect(await run('replay', '--all', '--json')).to.deep.equal({ code: 0, stdout: '{"replayed":1}\n', stderr: '' })
    expect(await run('replay', '--all')).to.deep.equal({ code: 0, stdout: 'Replayed 0 rows.\n', stderr: '' })
    expect(rows).to.deep.equal([1, 1])
    await watch.close()
    await letters.close()
    expect(await readdir(folder)).to.deep.equal([FILE_NAME])
  })

  it('is a command of sluice', async () => {
    const child = spawn(process.execPath, ['gateway/cli/sluice.js', 'dead-letters', 'list', '--json', '--user-dir', userDir])
    const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    expect(code).to.equal(0)
    expect(stdout.trim().split('\n')).to.have.length(2)
  })

  describe('asking the gateway', () => {
    /** @param {Promise<unknown>} promise */
    const errorOf = promise => promise.then(() => { throw new Error('it did not fail') }, error => error)

    it('says when none is running, and takes the request back', async () => {
      const error = await errorOf(requestReplay(folder, null, { takenWithinMs: 20, pollMs: 5 }))
      expect(error.code).to.equal('SLUICE_REPLAY_NO_GATEWAY')
      expect(await readdir(folder)).to.deep.equal([FILE_NAME])
    })

    it('tells why the gateway could not', async () => {
      const watch = watchRequests(folder, async () => { throw new Error('no stage out is wired') }, { pollMs: 10 })
      const error = await errorOf(requestReplay(folder, null, { pollMs: 5 }))
      expect(error).to.include({ code: 'SLUICE_REPLAY_FAILED' }).and.have.property('message').that.includes('no stage out is wired')
      await watch.close()
    })

    it('does not wait for ever', async () => {
      const answer = Promise.withResolvers()
      const watch = watchRequests(folder, () => answer.promise, { pollMs: 5 })
      const error = await errorOf(requestReplay(folder, null, { answeredWithinMs: 50, pollMs: 5 }))
      expect(error.code).to.equal('SLUICE_REPLAY_UNANSWERED')
      answer.resolve({ replayed: 0 })
      await watch.close()
    })
  })
})

function collector () {
  const stream = Object.assign(new Writable({
    write (chunk, _encoding, done) {
      stream.text += chunk
      done()
    }
  }), { text: '' })
  return stream
}
