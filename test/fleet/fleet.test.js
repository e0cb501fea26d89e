import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { encryptCredentials, ownSecret, readCredentials } from '../../gateway/base/credentials.js'
import { applyBundle } from '../../gateway/cli/apply.js'
import { exportBundle } from '../../gateway/cli/export.js'
import { partsOf } from '../../gateway/fleet/parts.js'
import { lockUserDir } from '../../gateway/run/user-dir-lock.js'
import { patchSyncs } from '../nodes/syncs.js'

const FLOW = [
  { id: 'press-tab', type: 'tab', label: 'Presse Süd', disabled: false },
  { id: 'empty', type: 'tab', label: 'Presse süd' },
  { id: 'car', type: 'sluice-can-read', z: 'press-tab', name: 'car', bus: 'bus', dbcFile: 'maps/car.dbc', x: 1, y: 2, wires: [['plant']] },
  { id: 'plant', type: 'sluice-postgresql', z: 'press-tab', name: 'plant', server: 'server', table: 'samples', x: 3, y: 4, wires: [] },
  { id: 'bus', type: 'sluice-can-bus', kind: 'virtual', name: 'vehicle' },
  { id: 'server', type: 'sluice-postgresql-server', name: 'Plant DB', host: 'db.lan' },
  { id: 'broker', type: 'sluice-broker', url: 'mqtt://broker.lan', ca: '/etc/ssl/plant.pem' }
]
const CREDENTIALS = { server: { user: 'sluice', password: 'open sesame' }, broker: { password: '${MQTT_PASSWORD}' } }

/** Of its files, below it. @param {string} folder */
async function pathsIn (folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => relative(folder, join(parentPath, name))).sort()
}

describe('A gateway as a folder', () => {
  /** @type {string} */
  let folder
  const at = (/** @type {string[]} */ ...parts) => join(folder, ...parts)
  const readFlow = async (/** @type {string} */ name) => JSON.parse(await readFile(at(name, 'flows.json'), 'utf8'))
  const edit = async (/** @type {string} */ path, /** @type {(text: string) => string} */ change) => {
    await writeFile(at(path), change(await readFile(at(path), 'utf8')))
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-fleet-'))
    await mkdir(at('a', 'maps'), { recursive: true })
    await mkdir(at('a', 'sluice'))
    await writeFile(at('a', 'flows.json'), JSON.stringify(FLOW))
    await writeFile(at('a', 'maps', 'car.dbc'), 'VERSION ""\n')
    await writeFile(at('a', 'sluice', 'gateway-id'), 'gw-aaaaaaaa\n')
    await writeFile(at('a', 'flows_cred.json'), encryptCredentials(CREDENTIALS, ownSecret(at('a'))))
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** @param {import('../../gateway/cli/sluice.js').Command} command @param {string[]} args */
  async function run (command, ...args) {
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
    const code = await command(args, streams)
    return { code, stdout: String(streams.stdout.read() ?? ''), stderr: String(streams.stderr.read() ?? '') }
  }
  const exported = () => run(exportBundle, at('bundle'), '--user-dir', at('a'))
  const applied = (/** @type {string[]} */ ...more) => run(applyBundle, at('bundle'), '--user-dir', at('b'), ...more)
  /** With the secrets that it needs. @param {string[]} more */
  const appliedFully = async (...more) => {
    await writeFile(at('secrets'), '# of the plant\nSLUICE_PLANT_DB_USER=sluice\nSLUICE_PLANT_DB_PASSWORD="open sesame"\n')
    return applied('--secrets', at('secrets'), ...more)
  }

  it('has a file for each tab, one for servers, and the files that are read; the same flow gives the same', async () => {
    const { code, stdout, stderr } = await exported()
    expect([code, stdout]).to.deep.equal([0, `Exported to ${at('bundle')}: 7 nodes, 1 files, 2 nodes with secrets.\n`])
    expect(stderr).to.equal('Not exported, as it is not in the data folder, or has a private key: /etc/ssl/plant.pem\n')
    expect(await pathsIn(at('bundle'))).to.deep.equal([
      'files/maps/car.dbc', 'flows/presse-sud-empty.json', 'flows/presse-sud.json', 'flows/shared.json',
      'secrets.example', 'secrets.json', 'sluice.json'
    ])
    const tab = await readFile(at('bundle', 'flows', 'presse-sud.json'), 'utf8')
    expect(tab).to.match(/^\[\n {2}\{\n {4}"id": "press-tab",\n {4}"type": "tab",\n {4}"label": "Presse Süd",/)
    const shuffled = FLOW.map(node => Object.fromEntries(Object.entries(node).reverse()))
    await writeFile(at('a', 'flows.json'), JSON.stringify(shuffled))
    await exported()
    expect(await readFile(at('bundle', 'flows', 'presse-sud.json'), 'utf8')).to.equal(tab)
  })

  it('has no secret, but says which there are', async () => {
    await exported()
    for (const path of await pathsIn(at('bundle'))) {
      expect(await readFile(at('bundle', path), 'utf8'), path).to.not.contain('open sesame')
    }
    expect(JSON.parse(await readFile(at('bundle', 'secrets.json'), 'utf8'))).to.deep.equal({
      server: { user: 'SLUICE_PLANT_DB_USER', password: 'SLUICE_PLANT_DB_PASSWORD' }, broker: { password: '${MQTT_PASSWORD}' }
    })
    const example = await readFile(at('bundle', 'secrets.example'), 'utf8')
    expect(example).to.contain('# password of sluice-postgresql-server "Plant DB" (server)\nSLUICE_PLANT_DB_PASSWORD=\n')
    expect(example).to.contain('# MQTT_PASSWORD=\n')
  })

  it('keeps apart what is called as a file of another already is', () => {
    const called = (/** @type {string} */ id, /** @type {string} */ label) => ({ id, type: 'tab', label })
    const nodes = [called('1', 'a b'), called('2', 'a'), called('b', 'a'), called('a.b', 'x'), called('x', 'x'), called('a b', 'x'),
      called('a-b', 'x'), called('主', '主'), called('shared', ''), called('s', 'shared')]
    expect([...partsOf(nodes).values()].flat()).to.have.deep.members(nodes)
    expect([...partsOf(nodes).keys()].slice(0, 3)).to.deep.equal(['flows/a-b.json', 'flows/a.json', 'flows/a-b-2.json'])
  })

  it('has those of the variables of all flows, which a node keeps together', async () => {
    const node = { id: 'all', type: 'global-config', name: '', env: [{ name: 'SHOP', type: 'cred', value: '' }] }
    await writeFile(at('a', 'flows.json'), JSON.stringify([...FLOW, node]))
    const credentials = { ...CREDENTIALS, all: { map: { SHOP: 'battery staple', has_SHOP: true, LEFT: '' } } }
    await writeFile(at('a', 'flows_cred.json'), encryptCredentials(credentials, ownSecret(at('a'))))
    await exported()
    const { all } = JSON.parse(await readFile(at('bundle', 'secrets.json'), 'utf8'))
    expect(all).to.deep.equal({ map: { SHOP: 'SLUICE_GLOBAL_CONFIG_SHOP', has_SHOP: true } })
    const example = await readFile(at('bundle', 'secrets.example'), 'utf8')
    expect(example).to.contain('map.SHOP of global-config (all)\nSLUICE_GLOBAL_CONFIG_SHOP=\n')
    expect((await appliedFully()).stderr).to.contain('SLUICE_GLOBAL_CONFIG_SHOP (map.SHOP of all)')
    await writeFile(at('shop'), `${await readFile(at('secrets'), 'utf8')}SLUICE_GLOBAL_CONFIG_SHOP=open barley\n`)
    expect((await applied('--secrets', at('shop'))).stdout).to.contain('~ secret map of all')
    expect(readCredentials(at('b'), at('b', 'flows.json')).all).to.deep.equal({ map: { SHOP: 'open barley', has_SHOP: true } })
    expect((await appliedFully()).stdout).to.equal('Nothing to change.\n')
  })

  it('says that the disk is full, and is applied once there is room', async () => {
    await exported()
    const restore = await patchSyncs(async () => { throw Object.assign(new Error('no space left'), { code: 'ENOSPC' }) })
    try {
      await mkdir(at('b'))
      ownSecret(at('b'))
      expect((await appliedFully()).stderr).to.contain(`SLUICE_DISK_FULL: The disk of ${at('b')} is full. Make room`)
    } finally {
      restore()
    }
    expect((await appliedFully()).code).to.equal(0)
    expect(await readFlow('b')).to.have.deep.members(FLOW)
  })

  it('has no file with a private key: it may be in that of the certificate', async () => {
    await writeFile(at('a', 'both.pem'), '-----BEGIN CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----\n')
    await writeFile(at('a', 'flows.json'), JSON.stringify([...FLOW, { id: 'tls', type: 'sluice-broker', cert: 'both.pem' }]))
    expect((await exported()).stderr).to.contain('has a private key: both.pem\n')
    expect(await readdir(at('bundle', 'files'))).to.deep.equal(['maps'])
  })

  it('names what looks like a secret and is no password of its node: that is in the folder', async () => {
    await writeFile(at('a', 'flows.json'), JSON.stringify([
      ...FLOW, { id: 'ask', type: 'http request', z: 'press-tab', name: 'shop', url: 'https://ada:open-sesame@shop.lan/', password: '' },
      { id: 'own', type: 'others-node', z: 'press-tab', token: '${SHOP_TOKEN}' }
    ]))
    const { code, stderr } = await exported()
    expect(code).to.equal(0)
    expect(stderr.match(/.*looks like a secret.*/g)).to.deep.equal([
      'Is in the folder, and looks like a secret: url of http request "shop" (ask)'
    ])
    expect(stderr).to.not.contain('open-sesame')
  })

  it('has what a Node-RED of one\'s own keeps, which has its secret among its settings', async () => {
    await rename(at('a', 'credential-secret'), at('secret'))
    const _credentialSecret = await readFile(at('secret'), 'utf8')
    await writeFile(at('a', '.config.runtime.json'), JSON.stringify({ _credentialSecret }))
    expect((await exported()).stdout).to.contain('2 nodes with secrets')
    await rm(at('a', '.config.runtime.json'))
    expect((await exported()).stderr).to.contain('SLUICE_CREDENTIALS')
    expect(existsSync(at('a', 'credential-secret'))).to.equal(false)
  })

  it('loses the file of a tab that is gone', async () => {
    await exported()
    await writeFile(at('a', 'flows.json'), JSON.stringify(FLOW.filter(({ id }) => id !== 'empty')))
    await exported()
    expect(await readdir(at('bundle', 'flows'))).to.have.members(['presse-sud.json', 'shared.json'])
  })

  it('makes another gateway the same, which keeps its own id, and then changes nothing', async () => {
    await exported()
    await mkdir(at('b', 'sluice'), { recursive: true })
    await writeFile(at('b', 'sluice', 'gateway-id'), 'gw-bbbbbbbb\n')
    const { code, stdout, stderr } = await appliedFully()
    expect(code, stderr).to.equal(0)
    expect(stdout).to.contain('+ sluice-postgresql "plant" (plant)\n').and.to.contain('+ file maps/car.dbc\n').and.to.match(/Applied\.\n$/)
    expect(stderr).to.equal('Warning: The flow names the file /etc/ssl/plant.pem, which is not here.\n')
    expect(await readFlow('b')).to.have.deep.members(FLOW)
    expect(partsOf(await readFlow('b'))).to.deep.equal(partsOf(FLOW))
    expect(readCredentials(at('b'), at('b', 'flows.json'))).to.deep.equal(CREDENTIALS)
    expect(ownSecret(at('b'))).to.not.equal(ownSecret(at('a')))
    expect(await readFile(at('b', 'maps', 'car.dbc'), 'utf8')).to.equal('VERSION ""\n')
    expect(await readFile(at('b', 'sluice', 'gateway-id'), 'utf8')).to.equal('gw-bbbbbbbb\n')
    const before = (await stat(at('b', 'flows.json'))).mtimeMs
    expect(await applied()).to.include({ code: 0, stdout: 'Nothing to change.\n' })
    expect((await stat(at('b', 'flows.json'))).mtimeMs).to.equal(before)
  })

  it('changes what has changed, and says what; the secrets on the machine stay', async () => {
    await exported()
    await appliedFully()
    await edit('bundle/flows/presse-sud.json', text => text.replace('"samples"', '"values"'))
    await writeFile(at('bundle', 'files', 'maps', 'car.dbc'), 'VERSION "2"\n')
    const trial = await applied('--dry-run')
    expect(trial.code).to.equal(3)
    const table = '~ sluice-postgresql "plant" (plant): table\n'
    const values = '    - table: "samples"\n    + table: "values"\n'
    expect(trial.stdout).to.equal(`${table}${values}~ file maps/car.dbc\nNothing was changed.\n`)
    expect((await readFlow('b')).find((/** @type {any} */ { id }) => id === 'plant').table).to.equal('samples')
    expect(await applied()).to.include({ code: 0, stdout: `${table}~ file maps/car.dbc\nApplied.\n` })
    expect((await readFlow('b')).find((/** @type {any} */ { id }) => id === 'plant').table).to.equal('values')
    expect(readCredentials(at('b'), at('b', 'flows.json'))).to.deep.equal(CREDENTIALS)
  })

  it('forgets the secrets of nodes that are gone, and takes new ones without saying them', async () => {
    await exported()
    await appliedFully()
    await edit('bundle/flows/shared.json', text => {
      return JSON.stringify(JSON.parse(text).filter((/** @type {any} */ { id }) => id !== 'broker'))
    })
    await edit('bundle/secrets.json', text => JSON.stringify({ server: JSON.parse(text).server }))
    await writeFile(at('password'), 'another one\n')
    process.env.SLUICE_PLANT_DB_PASSWORD_FILE = at('password')
    try {
      const { stdout } = await applied()
      expect(stdout).to.contain('- sluice-broker (broker)\n').and.to.contain('~ secret password of server\n')
      expect(stdout).to.not.contain('another one')
    } finally {
      delete process.env.SLUICE_PLANT_DB_PASSWORD_FILE
    }
    expect(readCredentials(at('b'), at('b', 'flows.json'))).to.deep.equal({ server: { user: 'sluice', password: 'another one' } })
  })

  it('is refused without the secrets that it needs, with their names, and nothing is changed', async () => {
    await exported()
    const { code, stderr } = await applied()
    expect(code).to.equal(1)
    expect(stderr).to.match(/SLUICE_APPLY_SECRETS.*SLUICE_PLANT_DB_USER \(user of Plant DB\), SLUICE_PLANT_DB_PASSWORD/)
    expect(existsSync(at('b', 'flows.json'))).to.equal(false)
  })

  it('does not undo what somebody has edited, unless it is told to', async () => {
    await exported()
    await appliedFully()
    const mine = (await readFlow('b')).map((/** @type {any} */ node) => node.id === 'plant' ? { ...node, table: 'mine' } : node)
    await writeFile(at('b', 'flows.json'), JSON.stringify(mine))
    const refused = await applied()
    expect([refused.code, refused.stderr]).to.match(/^1,.*SLUICE_APPLY_EDITED/)
    expect((await readFlow('b')).find((/** @type {any} */ { id }) => id === 'plant').table).to.equal('mine')
    const trial = await applied('--dry-run')
    expect(trial.code).to.equal(3)
    expect(trial.stderr).to.contain('edited since the last apply')
    expect((await applied('--overwrite')).code).to.equal(0)
    expect((await readFlow('b')).find((/** @type {any} */ { id }) => id === 'plant').table).to.equal('samples')
  })

  it('takes a flow that somebody made before the first apply for edited, but not the one that every gateway begins with', async () => {
    await exported()
    await mkdir(at('b'))
    await writeFile(at('b', 'flows.json'), await readFile(new URL('../../flows/flows.json', import.meta.url)))
    expect((await appliedFully('--dry-run')).stderr).to.not.contain('edited')
    await writeFile(at('b', 'flows.json'), '[{"id":"own","type":"tab","label":"Own"}]')
    expect((await appliedFully()).stderr).to.contain('SLUICE_APPLY_EDITED')
  })

  it('warns of rows that a sink will not get, and of a spool that nobody sends', async () => {
    await writeFile(at('a', 'flows.json'), JSON.stringify([...FLOW, { id: 'out', type: 'sluice-stage-out', z: 'press-tab', wires: [] }]))
    await exported()
    await appliedFully()
    await mkdir(at('b', 'sluice', 'spool', 'out'), { recursive: true })
    await writeFile(at('b', 'sluice', 'spool', 'out', '000000000001.aa.segment'), Buffer.alloc(2000))
    await edit('bundle/flows/presse-sud.json', text => {
      return JSON.stringify(JSON.parse(text).filter((/** @type {any} */ { id }) => id !== 'plant' && id !== 'out'))
    })
    const { stderr } = await applied()
    expect(stderr).to.contain('sluice-postgresql "plant" (plant) is removed. What of the 2.00 kB in the spools it has not stored')
    expect(stderr).to.contain('sluice-stage-out (out) is removed. Its spool stays, 2.00 kB')
  })

  it('is not applied beside a running gateway, but through it', async () => {
    await exported()
    await mkdir(at('b'))
    const unlock = lockUserDir(at('b'))
    try {
      expect((await appliedFully()).stderr).to.contain('SLUICE_USER_DIR_IN_USE')
    } finally {
      unlock()
    }
  })

  describe('is refused before anything is changed', () => {
    /** @type {[what: string, path: string, change: (text: string) => string, reason: RegExp][]} */
    const cases = [
      ['of another format', 'sluice.json', text => text.replace('"format": 1', '"format": 2'), /format 2/],
      ['that is no JSON', 'flows/shared.json', text => text.slice(1), /shared\.json is no JSON/],
      ['without a file that it names', 'sluice.json', text => text.replace('shared.json', 'gone.json'), /gone\.json cannot be read/],
      ['that would write elsewhere', 'sluice.json', text => text.replace('maps/car.dbc', '../car.dbc'), /may not be written/],
      ['that would write over users', 'sluice.json', text => text.replace('maps/car.dbc', 'users.json'), /may not be written/],
      ['that would write into a spool', 'sluice.json', text => text.replace('maps/car.dbc', 'sluice/spool/x'), /may not be written/],
      ['with a node that comes twice', 'flows/shared.json', text => text.replace('"id": "bus"', '"id": "server"'), /two nodes server/],
      ['with a node without an id', 'flows/shared.json', text => text.replace('"id": "bus"', '"no": "bus"'), /without id/],
      ['with a tab that is lacking', 'flows/presse-sud.json', text => text.replace('"id": "press-tab"', '"id": "x"'), /tab press-tab/],
      ['with a node of a newer version', 'flows/shared.json', text => text.replace('sluice-can-bus', 'sluice-can-xl'), /sluice-can-xl/],
      ['with secrets of nobody', 'secrets.json', text => text.replace('"server"', '"nobody"'), /a node nobody/],
      ['with a secret in it', 'secrets.json', text => text.replace('SLUICE_PLANT_DB_USER', 'open sesame'), /no name of a variable/]
    ]
    for (const [what, path, change, reason] of cases) {
      it(`a folder ${what}`, async () => {
        await exported()
        const before = await readFile(at('bundle', path), 'utf8')
        await edit(`bundle/${path}`, change)
        expect(await readFile(at('bundle', path), 'utf8')).to.not.equal(before)
        const { code, stderr } = await appliedFully()
        expect(code).to.equal(1)
        expect(stderr).to.match(/SLUICE_APPLY_INPUT/).and.to.match(reason)
        expect(existsSync(at('b', 'flows.json'))).to.equal(false)
      })
    }
  })

  it('says how it is used, and what is wrong with what it is given', async () => {
    for (const command of [exportBundle, applyBundle]) {
      expect((await run(command, '--help')).stdout).to.match(/^Usage: sluice (export|apply) DIR/)
      expect((await run(command)).code).to.equal(2)
      expect((await run(command, at('x'), '--no-such')).code).to.equal(2)
    }
    expect((await run(exportBundle, at('x'), '--user-dir', at('nowhere'))).stderr).to.contain('SLUICE_FLOW_FILE')
    expect((await run(applyBundle, at('nowhere'), '--user-dir', at('b'))).stderr).to.contain('SLUICE_APPLY_INPUT')
    await writeFile(at('a', 'credential-secret'), 'another')
    expect((await exported()).stderr).to.contain('SLUICE_CREDENTIALS')
  })

  it('takes a flow that an apply had put there before it was killed for no edit', async () => {
    await exported()
    expect((await appliedFully()).code).to.equal(0)
    const { hash } = JSON.parse(await readFile(at('b', 'applied.json'), 'utf8'))
    await writeFile(at('b', 'applied.json'), JSON.stringify({ begun: hash }))
    await edit('a/flows.json', text => text.replace('"car"', '"lorry"'))
    await exported()
    const { code, stderr } = await appliedFully()
    expect(code, stderr).to.equal(0)
    expect(JSON.parse(await readFile(at('b', 'applied.json'), 'utf8'))).to.have.all.keys('hash')
  })
})
