import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { bundleOf } from '../../gateway/doctor/bundle/bundle.js'
import { examine } from '../../gateway/doctor/examine.js'
import { reportOf } from '../../gateway/doctor/report.js'
import { makeUser, writeUsers } from '../../gateway/web/users.js'
import { Patient } from './subject.js'

/** Each in another place; what a program prints may have any of those that this machine keeps. */
const SECRETS = {
  credential: 'planted-1-credential',
  otherNode: 'planted-2 "of" another node',
  brokerUser: 'planted-3-broker-user',
  address: 'planted-4-address',
  environment: 'planted-5-environment',
  login: 'planted-6-login',
  token: 'planted-7-token',
  functionCode: 'planted-8-function',
  header: 'planted-9-header',
  settings: 'planted-10-settings',
  assigned: 'planted-11-assigned',
  exported: 'planted-12-exported',
  variable: 'planted-13-variable',
  session: 'planted-14-session',
  tab: 'planted-15-tab',
  key: 'planted-16-key',
  plain: 'planted-17-plain'
}

describe('Support bundle', () => {
  /** @type {Patient} */
  let patient
  beforeEach(() => { patient = new Patient() })
  afterEach(() => patient.remove())

  /** The files of it, unpacked by tar. @returns {Promise<Record<string, string>>} */
  async function bundle () {
    const subject = patient.subject()
    const bytes = await bundleOf(subject, await reportOf(subject, examine(subject, [])))
    const folder = join(patient.root.path, 'unpacked')
    mkdirSync(folder)
    execFileSync('tar', ['-xzf', '-', '-C', folder], { input: bytes })
    const [inner] = readdirSync(folder)
    expect(inner).to.match(/^sluice-/)
    return Object.fromEntries(readdirSync(join(folder, inner)).map(name => [name, readFileSync(join(folder, inner, name), 'utf8')]))
  }

  it('has what others need to help', async () => {
    patient.flow([
      { id: 'broker', type: 'sluice-broker', url: 'mqtt://plant.example:1883' },
      { id: 'out', type: 'sluice-stage-out', z: 'tab', name: 'press', broker: 'broker', spoolMegabytes: 7, wires: [['x']] }
    ])
    const spool = join(patient.userDir, 'sluice', 'spool', 'out')
    mkdirSync(spool, { recursive: true })
    writeFileSync(join(spool, '000000000001.0123456789abcdef.segment'), 'samples of a secret plant')
    patient.programs.journalctl = '-- No entries --\n'
    patient.programs.dmesg = '[1.0] mmc0: new high speed SDHC card\n[2.0] Bluetooth: core\n[3.0] EXT4-fs (mmcblk0p2): mounted\n'
    patient.environment = { SLUICE_CLOCK: 'trusted', SLUICE_HOST: '0.0.0.0', HOME: '/home/ada' }
    const files = await bundle()
    expect(Object.keys(files).sort()).to.deep.equal([
      'README.txt', 'doctor.json', 'doctor.txt', 'flow.json', 'gateway.log', 'kernel.log', 'settings.json', 'spools.json', 'stats.json',
      'versions.json'
    ])
    expect(JSON.parse(files['flow.json'])).to.deep.include({
      id: 'out', type: 'sluice-stage-out', z: 'tab', name: 'press', broker: 'broker', spoolMegabytes: 7, wires: [['x']]
    })
    expect(JSON.parse(files['spools.json']).spools[0]).to.deep.include({ spool: 'out', bytes: 25 })
    expect(files['gateway.log']).to.match(/^No journal of sluice\.service is kept here/)
    expect(files['kernel.log']).to.equal('[1.0] mmc0: new high speed SDHC card\n[3.0] EXT4-fs (mmcblk0p2): mounted\n')
    expect(JSON.parse(files['settings.json']).environment).to.deep.equal({ SLUICE_CLOCK: 'trusted', SLUICE_HOST: '0.0.0.0' })
    expect(JSON.parse(files['versions.json'])).to.include({ node: process.version, nodeRed: '5.0.7' })
    expect(Object.values(files).join('')).not.to.include('samples of a secret plant')
  })

  it('is made of a gateway whose flow has what is no node', async () => {
    patient.flow([/** @type {any} */ (null), { id: 'out', type: 'sluice-stage-out' }])
    expect((await bundle())['flow.json']).to.equal('[]\n')
  })

  it('has no secret that this machine keeps, nor what looks like one, wherever it is planted', async () => {
    await plant()
    const files = await bundle()
    const all = Object.values(files).join('\n')
    for (const [place, secret] of Object.entries(SECRETS)) {
      const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), Buffer.from(secret).toString('base64')]
      for (const form of forms) expect(all.includes(form), `${place}, as ${form}`).to.equal(false)
    }
    expect(all).not.to.include('planted')
    expect(files['gateway.log']).to.include('cannot log in')
    for (const name of ['flow.json', 'doctor.json', 'settings.json']) expect(() => JSON.parse(files[name]), name).not.to.throw()
  })

  async function plant () {
    const { userDir, root } = patient
    patient.flow([
      { id: 'env', type: 'tab', env: [{ name: 'TOKEN', value: SECRETS.tab, type: 'str' }] },
      { id: 'pg', type: 'sluice-postgresql-server', host: 'db', credentials: { password: SECRETS.exported } },
      { id: 'broker', type: 'sluice-broker', url: `mqtt://gateway:${SECRETS.address}@plant.example` },
      { id: 'embedded', type: 'sluice-embedded-broker', z: 'tab', wires: [] },
      { id: 'code', type: 'function', z: 'tab', func: `const t = '${SECRETS.functionCode}'`, wires: [] },
      { id: 'http', type: 'http request', z: 'tab', url: `https://x/?k=${SECRETS.functionCode}`, headers: [{ value: SECRETS.header }], wires: [] }
    ], {
      pg: { user: 'sluice', password: SECRETS.credential },
      http: { password: SECRETS.otherNode },
      embedded: { users: `press:gateway:${SECRETS.brokerUser}` },
      broker: { password: '${BROKER_PW_OF_PLANT}', key: `-----BEGIN PRIVATE KEY-----\n${SECRETS.key}\n-----END PRIVATE KEY-----` }
    })
    writeUsers(userDir, new Map([['ada', await makeUser({ name: 'ada', role: 'change', password: SECRETS.login })]]))
    writeFileSync(join(userDir, '.sessions.json'), JSON.stringify({ x: { user: 'ada', accessToken: SECRETS.session } }))
    root.write({
      'etc/sluice/login': `ada:change:${SECRETS.login}\n`,
      'etc/sluice/metrics-token': `${SECRETS.token}\n`,
      'etc/sluice/sluice.env': `SLUICE_PORT=1880\nDATABASE_PASSWORD="${SECRETS.settings}"\n`
    })
    patient.environment = {
      BROKER_PW_OF_PLANT: SECRETS.variable, API_KEY: SECRETS.environment, SLUICE_LOGIN: `bob:view:${SECRETS.login}`,
      SLUICE_PLAIN: SECRETS.plain,
      SLUICE_EXTRA: `postgres://sluice:${SECRETS.credential}@db/sluice`
    }
    const elsewhere = [SECRETS.functionCode, SECRETS.header, SECRETS.assigned, SECRETS.tab, SECRETS.plain]
    const said = Object.values(SECRETS).filter(secret => !elsewhere.includes(secret))
    patient.programs.journalctl = [
      ...said.map(secret => `ada cannot log in with ${secret}, ${encodeURIComponent(secret)}, ${JSON.stringify(secret)}`),
      ...said.map(secret => `mmc: Authorization: Basic ${Buffer.from(`ada:${secret}`).toString('base64')}`),
      `mmc: password=${SECRETS.assigned} token: "${SECRETS.assigned}" https://ada:${SECRETS.address}@plant.example/`
    ].join('\n')
  }
})
