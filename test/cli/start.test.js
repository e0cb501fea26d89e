import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { gatewaySettings, logLine } from '../../gateway/run/settings.js'
import { lockUserDir } from '../../gateway/run/user-dir-lock.js'
import { NotifySocket, requireNotify } from '../servers/notify-socket.js'
import { sluice, sluiceIn } from './process.js'

describe('Gateway', () => {
  /** @type {string} */
  let folder
  /** @type {ReturnType<typeof sluice>[]} */
  let started

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-gateway-'))
    started = []
    await writeFile(join(folder, 'empty.json'), '[{"id":"empty","type":"tab","label":"empty"}]')
  })

  afterEach(async () => {
    for (const { child, exit } of started) {
      child.kill('SIGKILL')
      await exit
    }
    await rm(folder, { recursive: true })
  })

  /** @param {string[]} more */
  function start (...more) {
    const gateway = sluice('start', '--user-dir', join(folder, 'user'), '--flows', join(folder, 'empty.json'), '--port', '0', ...more)
    started.push(gateway)
    return gateway
  }

  it('starts, serves the editor, and stops cleanly on SIGTERM', async () => {
    const gateway = start()
    const [, editorUrl] = await gateway.says(/Editor +(http:\S+)[^]*Ctrl-C/)
    expect(editorUrl).to.match(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    expect(await (await fetch(editorUrl)).text()).to.contain('<title>Sluice</title>')
    gateway.child.kill('SIGTERM')
    const { code, stderr } = await gateway.exit
    expect(code).to.equal(0)
    expect(stderr).to.equal('Stopping: what is on its way is being stored. Ctrl-C again to stop at once.\nStopped.\n')
  })

  it('does not end because its log cannot be written: the disk is full, or its reader has gone', async () => {
    const gateway = start()
    await gateway.says(/Ctrl-C/)
    gateway.child.stdout.destroy()
    gateway.child.stderr.destroy()
    gateway.child.kill('SIGTERM') // it says that it is stopping
    expect((await gateway.exit).code).to.equal(0)
  })

  it('refuses a second gateway on its user folder, until it is gone, however it went', async () => {
    const first = start()
    await first.says(/Ctrl-C/)
    const refused = await start().exit
    expect(refused.code).to.equal(1)
    expect(refused.stderr).to.contain(`SLUICE_USER_DIR_IN_USE: Another gateway, process ${first.child.pid}, runs on`)

    first.child.kill('SIGKILL')
    await first.exit
    const next = start()
    await next.says(/Ctrl-C/)
  })

  it('is not ready, and says why, with a flow that Node-RED calls started and has not made', async () => {
    const flow = [
      { id: 'flow', type: 'tab', label: 'flow' },
      { id: 'off', type: 'tab', label: 'off', disabled: true },
      { id: 'a', type: 'sluice-broker', name: 'hall', url: 'mqtt://127.0.0.1:9', another: 'b' },
      { id: 'b', type: 'sluice-broker', url: 'mqtt://127.0.0.1:9', another: 'a' },
      { id: 'note', type: 'comment', z: 'flow', wires: [] },
      { id: 'unused', type: 'comment', z: 'off', wires: [] },
      { id: 'part', type: 'subflow', name: 'part', in: [], out: [] },
      { id: 'inner', type: 'comment', z: 'part', wires: [] },
      { id: 'whole', type: 'subflow:part', z: 'flow', wires: [] }
    ]
    await writeFile(join(folder, 'empty.json'), JSON.stringify(flow))
    const [, editorUrl] = await start().says(/Editor +(http:\S+)[^]*Ctrl-C/)
    let answer = await fetch(`${editorUrl}sluice/health`)
    while (answer.status !== 200) answer = await fetch(`${editorUrl}sluice/health`) // the flow starts
    answer = await fetch(`${editorUrl}sluice/health/ready`)
    const { status, missing } = /** @type {{status: string, missing: {name: string, problem: string}[]}} */ (await answer.json())
    expect([answer.status, status]).to.deep.equal([503, 'not ready'])
    expect(missing.map(({ name }) => name)).to.deep.equal(['sluice-broker hall', 'sluice-broker b'])
    expect(missing[0].problem).to.contain('SLUICE_NODE_UNSTARTED')
    expect(missing[1].problem).to.contain('the another of sluice-broker b is the id of sluice-broker hall, which needs this one')
  })

  it('says what Node-RED says where the name of a config node is its id, which it takes for a reference', async () => {
    const flow = [
      { id: 'flow', type: 'tab', label: 'flow' },
      { id: 'hall', type: 'sluice-broker', name: 'hall', url: 'mqtt://127.0.0.1:9' },
      { id: 'line', type: 'subflow', name: 'line', in: [], out: [] },
      { id: 'press', type: 'sluice-broker', z: 'line', name: 'press', url: 'mqtt://127.0.0.1:9' },
      { id: 'inner', type: 'comment', z: 'line', x: 100, y: 100, wires: [] },
      { id: 'use', type: 'subflow:line', z: 'flow', x: 100, y: 100, wires: [] }
    ]
    await writeFile(join(folder, 'empty.json'), JSON.stringify(flow))
    const [, editorUrl] = await start().says(/Editor +(http:\S+)[^]*Ctrl-C/)
    let answer = await fetch(`${editorUrl}sluice/health`)
    while (answer.status !== 200) answer = await fetch(`${editorUrl}sluice/health`) // the flow starts
    answer = await fetch(`${editorUrl}sluice/health/ready`)
    const { missing } = /** @type {{missing: {name: string, problem: string}[]}} */ (await answer.json())
    const reason = '"Circular config node dependency detected: hall": the name of sluice-broker hall is its own id.'
    expect(missing.map(({ name }) => name)).to.deep.equal(['sluice-broker hall', 'subflow use'])
    const [own, use] = missing.map(({ problem }) => problem)
    expect(own).to.contain(`Node-RED has not made this node: ${reason}`)
    expect(use).to.contain('It gave up at sluice-broker press. "Circular config node dependency detected: press"')
  })

  it('says that its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (other.address())
    const { code, stderr } = await start('--port', String(port)).exit
    other.close()
    expect(code).to.equal(1)
    const text = `Port ${port} on 127.0.0.1 is taken by another program. Choose another with --port or SLUICE_PORT.`
    expect(stderr).to.equal(`sluice start: SLUICE_PORT_TAKEN: ${text}\n`)
  })

  it('says that it may not use its user folder, or a file in it', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    const user = join(folder, 'user')
    await mkdir(user)
    await writeFile(join(user, 'sluice'), '') // what is to be a folder
    for (const userDir of [file, join(file, 'below'), user]) {
      const { code, stderr } = await sluice('start', '--user-dir', userDir, '--port', '0').exit
      expect(code).to.equal(1)
      expect(stderr).to.contain(`SLUICE_USER_DIR: The data folder ${userDir} cannot be used by this user`)
    }
  })

  it('says that the flow file is missing', async () => {
    const { code, stderr } = await start('--flows', join(folder, 'nowhere.json')).exit
    expect(code).to.equal(1)
    expect(stderr).to.contain('SLUICE_FLOW_FILE: There is no flow file')
  })
})

describe('Gateway as a service', () => {
  /** @type {string} */
  let folder
  /** @type {NotifySocket} */
  let socket
  /** @type {ReturnType<typeof sluice>} */
  let gateway

  before(function () { requireNotify(this) })
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-service-'))
    socket = await NotifySocket.listen()
  })
  afterEach(async () => {
    gateway.child.kill('SIGKILL')
    await gateway.exit
    await socket.close()
    await rm(folder, { recursive: true })
  })

  /** As its unit starts it, with all settings in the environment. @param {object[]} flow */
  async function start (flow) {
    const file = join(folder, 'flow.json')
    await writeFile(file, JSON.stringify(flow))
    gateway = sluiceIn({
      NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '100000', SLUICE_FLOWS: file, SLUICE_PORT: '0', SLUICE_USER_DIR: join(folder, 'user')
    }, 'start')
  }

  it('takes its options from the environment, and tells systemd when the flow runs, that it lives and that it stops', async () => {
    await start([{ id: 'empty', type: 'tab', label: 'empty' }])
    await socket.hears('READY=1\nSTATUS=The flow runs.')
    await socket.hears('WATCHDOG=1')
    expect((await gateway.says(/Data +(\S+)/))[1]).to.equal(join(folder, 'user'))
    gateway.child.kill('SIGTERM')
    await socket.hears('STOPPING=1')
    expect((await gateway.exit).code).to.equal(0)
  })

  it('is ready with a flow that cannot run, as only its editor can mend that, and says why', async () => {
    await start([{ id: 'flow', type: 'tab', label: 'flow' }, { id: 'pump', type: 'pump', z: 'flow', wires: [] }])
    await socket.hears('READY=1\nSTATUS=The flow does not run: missing-types pump.')
  })
})

describe('Gateway settings', () => {
  /** @type {string} */
  let userDir

  beforeEach(async () => { userDir = await mkdtemp(join(tmpdir(), 'sluice-settings-')) })
  afterEach(() => rm(userDir, { recursive: true }))

  const settings = () => gatewaySettings({ userDir, host: '127.0.0.1', port: 1880, log: () => {} })

  it('copy the default flow once, and leave the user\'s edits alone', async () => {
    const { flowFile } = settings()
    expect(flowFile).to.equal(join(userDir, 'flows.json'))
    await writeFile(flowFile, '[]')
    settings()
    expect(await readFile(flowFile, 'utf8')).to.equal('[]')
  })

  it('keep a secret for passwords that only this user can read', async () => {
    const { credentialSecret } = settings()
    expect(credentialSecret).to.match(/^[0-9a-f]{64}$/)
    expect(settings().credentialSecret).to.equal(credentialSecret)
    expect((await stat(join(userDir, 'credential-secret'))).mode & 0o777).to.equal(0o600)
  })

  it('refuse a flow that cannot be read, instead of running none', async () => {
    for (const [text, problem] of [['[{"id":', 'JSON'], ['{"nodes":[]}', 'it is not a list of nodes'], ['', 'JSON']]) {
      await writeFile(join(userDir, 'flows.json'), text)
      expect(settings).to.throw(`The flow ${join(userDir, 'flows.json')} cannot be used`).with.property('code', 'SLUICE_FLOW_FILE')
      expect(settings).to.throw(problem)
    }
    await writeFile(join(userDir, '.flows.json.backup'), '[]')
    expect(settings, 'empty, which Node-RED mends').to.not.throw()
    await writeFile(join(userDir, 'flows.json'), '\uFEFF[]')
    expect(settings).to.not.throw()
  })

  it('make another secret where a power cut left none in its file', async () => {
    await writeFile(join(userDir, 'credential-secret'), '')
    const { credentialSecret } = settings()
    expect(credentialSecret).to.match(/^[0-9a-f]{64}$/)
    expect(await readFile(join(userDir, 'credential-secret'), 'utf8')).to.equal(credentialSecret)
  })

  it('log one line per entry', () => {
    const timestamp = new Date(2026, 0, 2, 3, 4, 5).getTime()
    expect(logLine({ level: 30, msg: 'slow', type: 'sluice-sqlite', name: 'machine', timestamp }))
      .to.equal('03:04:05 warn  sluice-sqlite:machine  slow')
    expect(logLine({ level: 20, msg: { code: 7 }, timestamp })).to.equal('03:04:05 error {"code":7}')
  })

  it('log no line that somebody else has made up in a name, and nothing that moves the cursor', () => {
    const forged = 'Ignored a\n12:00:00 error  all is lost\r\u001b[31m\u0085\u2028\u202egnol'
    for (const msg of [forged, new Error(forged)]) {
      const [line, ...more] = logLine({ level: 30, msg, type: 'sluice-stage-in', name: forged, timestamp: 0 }).split('\n')
      expect(line).to.include('Ignored a\\u000a12:00:00 error  all is lost\\u000d\\u001b[31m\\u0085\\u2028\\u202egnol')
      expect(line).to.not.match(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
      expect(more.filter(text => !text.startsWith('    at '))).to.deep.equal([])
    }
  })
})

describe('User folder lock', () => {
  it('holds until it is given back', async () => {
    const userDir = await mkdtemp(join(tmpdir(), 'sluice-lock-'))
    const unlock = lockUserDir(userDir)
    expect(() => lockUserDir(userDir)).to.throw(`process ${process.pid}, runs on ${userDir}`)
    unlock()
    lockUserDir(userDir)()
    await rm(userDir, { recursive: true })
  })
})
