import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect } from 'chai'
import { freePort } from '../servers/ports.js'
import { Gateway, node } from './gateway.js'

const PASSWORD = 'a password of the broker'

describe('The files of a gateway with an embedded broker that has users', () => {
  /** @type {Gateway} */
  let gateway
  /** @type {string} */
  let shared

  before(async () => {
    const mask = process.umask(0o022) // as on most machines
    try {
      gateway = await Gateway.start()
      shared = join(gateway.folder, 'shared')
      await mkdir(shared)
    } finally {
      process.umask(mask)
    }
    const port = String(await freePort())
    const flow = (/** @type {object} */ users, /** @type {object} */ login) => [
      node('embedded', '-embedded-broker', { port, credentials: users }),
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}`, credentials: login },
      node('out', '-stage-out', { broker: 'broker' }),
      node('in', '-stage-in', { broker: 'broker' }, ['sqlite', 'file']),
      node('sqlite', '-sqlite', { name: 'sqlite', table: 'machine' }),
      node('file', '-file', { name: 'files', folder: shared })
    ]
    await gateway.deploy(flow({}, {})) // which gives it an id
    const idFile = join(gateway.userDir, 'sluice', 'gateway-id')
    await gateway.until(() => readFile(idFile).then(() => true, () => false), () => 'the id')
    const user = (await readFile(idFile, 'utf8')).trim()
    const users = `${user}:gateway:${PASSWORD}\nwallboard:reader:${PASSWORD}`
    await gateway.deploy(flow({ users }, { user, password: PASSWORD }), { feeds: ['out'] })
  })

  after(() => gateway?.remove())

  it('stores through it, logged in with what is among the credentials', async () => {
    await gateway.feed(() => [{ topic: 'machine', payload: { speed: 1 } }])
    await gateway.until(async () => (await gateway.meter('sink', 'sqlite'))?.rows === 1, async () => JSON.stringify(await gateway.report()))
    await gateway.until(async () => (await gateway.meter('sink', 'files'))?.rows === 1)
    for (const name of ['flows.json', 'flows_cred.json']) {
      expect(await readFile(join(gateway.folder, name), 'utf8'), name).not.to.contain(PASSWORD)
    }
    expect(gateway.log).not.to.contain(PASSWORD)
  })

  it('are for their owner only, spools, dead letters and passwords of flows included', async () => {
    const open = []
    const found = []
    for (const path of await below(gateway.userDir)) {
      const { mode } = await stat(path)
      const isOfNodeRed = !path.startsWith(join(gateway.userDir, 'sluice')) && !/_cred|credential-secret|users\.json/.test(path)
      found.push(relative(gateway.userDir, path))
      if (!isOfNodeRed && (mode & 0o077) !== 0) open.push(`${(mode & 0o777).toString(8)} ${relative(gateway.userDir, path)}`)
    }
    expect(open).to.deep.equal([])
    const expected = [
      /^sluice\/spool\/.*segment/, /^sluice\/gateway-id$/, /^sluice\/required-sinks\/.*json$/, /sqlite$/, /^sluice\/dead-letters\//
    ]
    for (const name of expected) {
      expect(found.some(path => name.test(path)), `${name} among ${found.join()}`).to.equal(true)
    }
    const { mode } = await stat(join(gateway.folder, 'flows_cred.json'))
    expect((mode & 0o777).toString(8)).to.equal('600')
    expect(((await stat(gateway.userDir)).mode & 0o777).toString(8)).to.equal('700')
  })

  it('of a file sink are for those for whom the process makes files', async () => {
    const outputs = (await below(shared)).filter(path => !relative(shared, path).startsWith('.') && /\.\w+$/.test(path))
    expect(outputs).not.to.have.length(0)
    for (const path of outputs) expect(((await stat(path)).mode & 0o777).toString(8), path).to.equal('644')
  })
})

/** @param {string} folder @returns {Promise<string[]>} */
async function below (folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries.map(({ parentPath, name }) => join(parentPath, name)).filter(path => !path.includes('node_modules'))
}
