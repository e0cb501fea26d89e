import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { chill } from '../../gateway/queries/cold.js'
import { failureOf } from '../databases/contract/batches.js'

describe('cold caches', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-cold-')) })
  afterEach(() => rm(folder, { recursive: true }))

  const drop = async () => {}
  /** A server that answers after some questions. @param {number} [refusals] */
  const serverAt = (place = 'PostgreSQL at 127.0.0.1:5432', refusals = 0) => ({
    place,
    async test () {
      if (refusals-- > 0) throw new Error('starting')
      return 'ready'
    }
  })

  it('are those of a file whose system has dropped them', async () => {
    expect(await chill({ restart: '', drop })).to.deep.equal({ cache: 'cold', cacheReason: 'the system\'s caches were dropped' })
  })

  it('are called warm, with the reason, where the system does not drop them', async () => {
    const refused = async () => { throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }) }
    const { cache, cacheReason } = await chill({ restart: '', drop: refused })
    expect(cache).to.equal('warm')
    expect(cacheReason).to.include('cannot be dropped').and.include('EACCES')
  })

  it('of a server need its restart, which the query waits for', async () => {
    const script = join(folder, 'restart.js')
    const mark = join(folder, 'done')
    await writeFile(script, 'require("node:fs").writeFileSync(process.argv[2], process.argv[3])')
    const command = `${process.execPath} ${script} ${mark} $HOME;`
    expect((await chill({ restart: command, server: serverAt(undefined, 2), drop })).cache).to.equal('cold')
    expect(await readFile(mark, 'utf8'), 'no shell reads the command').to.equal('$HOME;')
    const without = await chill({ restart: '', server: serverAt(), drop })
    expect(without).to.deep.equal({ cache: 'warm', cacheReason: 'no command to restart the server is set' })
  })

  it('of a server on another machine are warm', async () => {
    for (const place of ['MySQL at db.example:3306', 'MongoDB at 10.0.0.7:27017, database "localhost"']) {
      expect((await chill({ restart: 'true', server: serverAt(place), drop })).cache, place).to.equal('warm')
    }
  })

  it('fail with the command that fails', async () => {
    expect(await failureOf(() => chill({ restart: 'false', server: serverAt(), drop }))).to.include({ code: 'SLUICE_QUERY_RESTART' })
  })
})
