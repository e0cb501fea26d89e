import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { encryptCredentials, ownSecret, readCredentials } from '../../gateway/base/credentials.js'
import { RunningGateway } from '../../gateway/fleet/running.js'
import { sluice } from '../cli/process.js'
import { parse } from '../metrics/parse.js'

const ADA = { user: 'ada', password: 'correct horse' }

/** A press, its rows stored where no path has to be right. */
const flow = (/** @type {string} */ name) => [
  { id: 'tab', type: 'tab', label: 'Press' },
  { id: 'machine', type: 'sluice-simulator', z: 'tab', name, sampleRateHz: '100', autostart: true, x: 1, y: 1, wires: [['store']] },
  { id: 'store', type: 'sluice-null', z: 'tab', x: 2, y: 1, wires: [] }
]

describe('A folder that is applied to a gateway that runs', () => {
  /** @type {string} */
  let folder
  /** @type {ReturnType<typeof sluice>} */
  let gateway
  /** @type {string} */
  let url
  const at = (/** @type {string[]} */ ...parts) => join(folder, ...parts)

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-fleet-'))
    await writeFile(at('users'), 'ada:change:correct horse\nwallboard:view:battery staple\n')
    await writeFile(at('token'), 'the-token\n')
    await writeFile(at('start.json'), '[]')
    gateway = sluice('start', '--user-dir', at('b'), '--port', '0', '--login-file', at('users'), '--metrics-token-file', at('token'),
      '--flows', at('start.json'))
    url = (await gateway.says(/Editor +(http:\S+)\/[^]*Ctrl-C/))[1]
    while (!(await fetch(`${url}/sluice/health`)).ok) await sleep(20)
    await exported('press')
    process.env.SLUICE_TEST_PASSWORD = ADA.password
    process.env.SLUICE_TEST_WRONG = 'wrong'
  })
  after(async () => {
    delete process.env.SLUICE_TEST_PASSWORD
    delete process.env.SLUICE_TEST_WRONG
    gateway.child.kill('SIGTERM')
    await gateway.exit
    await rm(folder, { recursive: true })
  })

  /** @param {string} name  of the press @param {object[]} [more]  nodes */
  async function exported (name, more = []) {
    await writeFile(at('flows.json'), JSON.stringify([...flow(name), ...more]))
    expect((await sluice('export', at('bundle'), '--user-dir', at('a'), '--flows', at('flows.json')).exit).code).to.equal(0)
  }
  const place = () => ['--user-dir', at('b'), '--flows', at('start.json'), '--url', url]
  const asAda = ['--user', 'ada', '--password-env', 'SLUICE_TEST_PASSWORD']
  const applied = (/** @type {string[]} */ ...more) => sluice('apply', at('bundle'), ...place(), ...more).exit

  /** Rows that the sink has taken. */
  async function stored () {
    const response = await fetch(`${url}/sluice/metrics`, { headers: { authorization: 'Bearer the-token' } })
    return parse(await response.text()).get('sluice_sink_rows_total')?.samples[0].value ?? 0
  }

  it('is refused without a user who may change', async () => {
    for (const login of [[], ['--user', 'ada', '--password-env', 'SLUICE_TEST_WRONG']]) {
      const { code, stderr } = await applied(...login)
      expect(code).to.equal(1)
      expect(stderr).to.contain('SLUICE_APPLY_GATEWAY').and.to.not.contain('correct horse')
    }
    expect(await readFile(at('start.json'), 'utf8')).to.equal('[]')
  })

  it('makes it run the same flow, at once, and then changes nothing', async () => {
    const { code, stdout, stderr } = await applied(...asAda)
    expect(code, stderr).to.equal(0)
    expect(stdout).to.contain('+ sluice-simulator "press" (machine)')
    while (await stored() === 0) await sleep(20)
    expect(await applied(...asAda)).to.include({ code: 0, stdout: 'Nothing to change.\n' })
    expect((await applied('--dry-run', ...asAda)).code).to.equal(0)
  })

  it('starts only what has changed anew', async () => {
    const before = await stored()
    await exported('lathe')
    expect((await applied('--dry-run', ...asAda)).code).to.equal(3)
    expect(await applied(...asAda)).to.include({ code: 0, stdout: '~ sluice-simulator "lathe" (machine): name\nApplied.\n' })
    expect(await stored()).to.be.at.least(before)
  })

  it('does not undo what somebody has deployed: neither before, nor meanwhile', async () => {
    const connected = await RunningGateway.connect(url, ADA)
    const { nodes, revision } = await connected.read()
    await connected.write([...nodes, { id: 'note', type: 'comment', z: 'tab', name: 'mine' }], {}, { revision, isFull: false })
    const late = await connected.write(nodes, {}, { revision, isFull: false }).catch(error => error)
    expect(late).to.have.property('code', 'SLUICE_APPLY_CHANGED')
    expect((await applied(...asAda)).stderr).to.contain('SLUICE_APPLY_EDITED')
    expect((await connected.read()).nodes.map(({ id }) => id)).to.include('note')
    expect(await applied('--overwrite', ...asAda)).to.include({ code: 0, stdout: '- comment "mine" (note)\nApplied.\n' })
  })

  it('goes on where it was killed: nodes whose files it had replaced start anew', async () => {
    await exported('press', [
      {
        id: 'once', type: 'inject', z: 'tab', once: true, props: [{ p: 'payload' }], payload: '+', payloadType: 'str', wires: [['starts']]
      },
      { id: 'starts', type: 'file', z: 'tab', filename: at('starts'), filenameType: 'str', overwriteFile: 'false', wires: [[]] }
    ])
    const starts = () => readFile(at('starts'), 'utf8').catch(() => '')
    await applied('--overwrite', ...asAda)
    while (await starts() !== '+') await sleep(20)
    const { hash } = JSON.parse(await readFile(at('b', 'applied.json'), 'utf8'))
    await writeFile(at('b', 'applied.json'), JSON.stringify({ hash, begun: hash }))
    expect((await applied('--dry-run', ...asAda)).code).to.equal(3)
    expect(await applied(...asAda)).to.include({ code: 0, stdout: '~ what an apply had begun\nApplied.\n' })
    while (await starts() !== '++') await sleep(20)
    expect(await applied(...asAda)).to.include({ code: 0, stdout: 'Nothing to change.\n' })
  })

  it('is refused where it needs nodes that the gateway lacks: no flow would start', async () => {
    await writeFile(at('flows.json'), JSON.stringify([...flow('press'), { id: 'other', type: 'no-such-node', z: 'tab', wires: [] }]))
    await sluice('export', at('bundle'), '--user-dir', at('a'), '--flows', at('flows.json')).exit
    expect((await applied(...asAda)).stderr).to.match(/SLUICE_APPLY_INPUT.*no-such-node/)
    expect((await fetch(`${url}/sluice/health`)).status).to.equal(200)
  })

  it('is refused with the data folder of another gateway', async () => {
    const { stderr } = await sluice('apply', at('bundle'), '--user-dir', at('c'), '--url', url, ...asAda).exit
    expect(stderr).to.contain('SLUICE_APPLY_GATEWAY').and.to.contain('does not run the flow in')
  })

  it('leaves a subflow the passwords that are not given again', async () => {
    const own = ['SHOP', 'PLANT'].map(name => ({ name, type: 'cred', value: '' }))
    await mkdir(at('a'))
    await writeFile(at('flows_cred.json'), encryptCredentials({ use: { SHOP: 'one', PLANT: 'two' } }, ownSecret(at('a'))))
    await exported('press', [
      { id: 'sub', type: 'subflow', name: 'Shop', env: own, in: [], out: [] },
      { id: 'use', type: 'subflow:sub', z: 'tab', name: 'shop', env: own, x: 3, y: 1, wires: [] }
    ])
    const kept = () => readCredentials(at('b'), at('start.json')).use
    await writeFile(at('both'), 'SLUICE_SHOP_SHOP=one\nSLUICE_SHOP_PLANT=two\n')
    expect(await applied(...asAda, '--overwrite', '--secrets', at('both'))).to.include({ code: 0 })
    expect(kept()).to.deep.equal({ SHOP: 'one', PLANT: 'two' })
    await writeFile(at('one'), 'SLUICE_SHOP_SHOP=three\n')
    expect(await applied(...asAda, '--secrets', at('one'))).to.include({ code: 0 })
    expect(kept()).to.deep.equal({ SHOP: 'three', PLANT: 'two' })
  })
})
