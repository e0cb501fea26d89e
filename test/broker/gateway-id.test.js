import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { gatewayId } from '../../broker/gateway-id.js'

describe('Gateway id', () => {
  /** @type {string} */
  let folder

  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-id-')) })
  afterEach(() => rm(folder, { recursive: true }))

  it('is made at first start and kept', async () => {
    const dataDir = join(folder, 'sluice')
    const id = await gatewayId(dataDir)
    expect(id).to.match(/^gw-[a-z2-7]{8}$/)
    expect(await readFile(join(dataDir, 'gateway-id'), 'utf8')).to.equal(`${id}\n`)
    expect(await gatewayId(`${dataDir}/.`), 'read from the disk').to.equal(id)
  })

  it('is one for all who ask at once', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => gatewayId(folder)))
    expect(new Set(ids).size).to.equal(1)
  })

  it('differs between gateways', async () => {
    expect(await gatewayId(join(folder, 'a'))).not.to.equal(await gatewayId(join(folder, 'b')))
  })
})
