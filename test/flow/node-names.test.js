import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { NodeNames, readNodeNames } from '../../gateway/flow/node-names.js'

const [FIRST, SECOND, THIRD] = ['16dc29069ea3080e', '26dc29069ea3080e', '36dc29069ea3080e']
const unnamed = (/** @type {string} */ id, type = 'sluice-postgresql') => ({ id, type, name: '' })

describe('names of nodes', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(os.tmpdir(), 'sluice-names-')) })
  afterEach(() => rm(folder, { recursive: true }))

  /** As a gateway does that is started, or whose flow is deployed. @param {import('../../gateway/flow/node-names.js').NamedNode[]} nodes */
  const started = (...nodes) => {
    const nodeNames = new NodeNames(join(folder, 'sluice'))
    const names = nodeNames.of(nodes)
    nodeNames.keep(names)
    return Object.fromEntries(names)
  }

  it('are the type and a number where Node-RED has made the id, and the id where a person has', () => {
    const others = [unnamed('history', 'sluice-sqlite'), unnamed(`${FIRST}-db`, 'sluice-stage-in')]
    expect(started(unnamed(FIRST), unnamed(SECOND), ...others)).to.deep.equal({
      [FIRST]: 'postgresql', [SECOND]: 'postgresql 2', history: 'history', [`${FIRST}-db`]: 'stage in'
    })
    expect(started(unnamed('5f3b2c1.9d4e5f'))).to.deep.equal({ '5f3b2c1.9d4e5f': 'postgresql' })
  })

  it('stay over restarts, whatever is deleted, added or moved in the flow', () => {
    started(unnamed(FIRST), unnamed(SECOND))
    expect(started(unnamed(SECOND))).to.deep.equal({ [SECOND]: 'postgresql 2' })
    expect(started(unnamed(THIRD), unnamed(SECOND))).to.deep.equal({ [THIRD]: 'postgresql', [SECOND]: 'postgresql 2' })
    expect(started(unnamed(SECOND), unnamed(THIRD))).to.deep.equal({ [THIRD]: 'postgresql', [SECOND]: 'postgresql 2' })
  })

  it('number those of one name, and leave a name to who has it', () => {
    const named = (/** @type {string} */ id, /** @type {string} */ name) => ({ ...unnamed(id), name })
    expect(started(named(FIRST, 'plant'), named(SECOND, ' plant '))).to.deep.equal({ [FIRST]: 'plant', [SECOND]: 'plant 2' })
    expect(started(named(SECOND, 'plant'))).to.deep.equal({ [SECOND]: 'plant 2' })
    expect(started(named(SECOND, 'hall'))).to.deep.equal({ [SECOND]: 'hall' })
    expect(started(unnamed(FIRST), unnamed(SECOND), named(THIRD, 'postgresql'))).to.deep.equal({
      [FIRST]: 'postgresql 2', [SECOND]: 'postgresql 3', [THIRD]: 'postgresql'
    })
  })

  it('are given anew where their file is damaged or cannot be written', async () => {
    started(unnamed(FIRST), unnamed(SECOND))
    await writeFile(join(folder, 'sluice', 'node-names.json'), '{"')
    expect(started(unnamed(SECOND))).to.deep.equal({ [SECOND]: 'postgresql' })
    expect(readNodeNames(join(folder, 'sluice'))).to.deep.equal({ [SECOND]: 'postgresql' })
    await rm(join(folder, 'sluice'), { recursive: true })
    await writeFile(join(folder, 'sluice'), 'where the folder is to be')
    expect(started(unnamed(FIRST))).to.deep.equal({ [FIRST]: 'postgresql' })
  })
})
