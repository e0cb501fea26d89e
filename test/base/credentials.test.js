import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { credentialFile, encryptCredentials, ownSecret, readCredentials } from '../../gateway/base/credentials.js'

const CREDENTIALS = { broker: { user: 'süd', password: 'open sesame' } }

/** What Node-RED itself makes of them, and of a text. */
const nodeRed = createRequire(createRequire(import.meta.url).resolve('node-red'))('@node-red/runtime/lib/nodes/credentials')

describe('The passwords of a flow', () => {
  /** @type {string} */
  let userDir
  beforeEach(async () => { userDir = await mkdtemp(join(tmpdir(), 'sluice-credentials-')) })
  afterEach(async () => {
    delete process.env.SLUICE_CREDENTIAL_SECRET
    await rm(userDir, { recursive: true })
  })

  const write = (/** @type {string} */ name, /** @type {unknown} */ content) => {
    return writeFile(join(userDir, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const read = () => readCredentials(userDir, join(userDir, 'flows.json'))
  const refused = () => expect(read).to.throw().with.property('code', 'SLUICE_CREDENTIALS')

  it('are none without a file', () => {
    expect(read()).to.deep.equal({})
  })

  it('are the same to Node-RED, both ways', async () => {
    const settings = { get: (/** @type {string} */ name) => name === 'credentialSecret' ? ownSecret(userDir) : undefined }
    nodeRed.init({ log: { warn () {}, debug () {}, _: String }, settings })
    await nodeRed.load(JSON.parse(encryptCredentials(CREDENTIALS, ownSecret(userDir))))
    expect(nodeRed.get('broker')).to.deep.equal(CREDENTIALS.broker)
    nodeRed.add('broker', CREDENTIALS.broker)
    await write('flows_cred.json', await nodeRed.export())
    expect(read()).to.deep.equal(CREDENTIALS)
  })

  it('are opened by the gateway\'s secret, by the one of a settings.js, or by one that Node-RED has made up', async () => {
    await write('flows_cred.json', encryptCredentials(CREDENTIALS, 'the one'))
    await write('credential-secret', 'another')
    refused()
    await write('.config.runtime.json', { _credentialSecret: 'the one' })
    expect(read()).to.deep.equal(CREDENTIALS)
    await write('.config.runtime.json', '{ damaged')
    refused()
    process.env.SLUICE_CREDENTIAL_SECRET = 'the one'
    expect(read()).to.deep.equal(CREDENTIALS)
  })

  it('are open where a Node-RED was told not to encrypt them', async () => {
    await write('flows_cred.json', CREDENTIALS)
    expect(read()).to.deep.equal(CREDENTIALS)
  })

  it('are refused where their file is damaged', async () => {
    await write('credential-secret', 'the one')
    for (const damaged of ['', '{"$":', { $: 7 }, { $: 'no vector' }]) {
      await write('flows_cred.json', damaged)
      refused()
    }
  })

  it('are in the data folder, or beside a flow that is elsewhere', async () => {
    expect(credentialFile(userDir, '/srv/plant.json')).to.equal('/srv/plant_cred.json')
    await write('plant_cred.json', CREDENTIALS)
    expect(credentialFile(userDir, '/srv/plant.json')).to.equal(join(userDir, 'plant_cred.json'))
  })
})
