import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { isDiskFull, namingDisk } from '../../gateway/base/disk-full.js'
import { lock } from '../../gateway/base/lock.js'

describe('A full disk', () => {
  it('is what SQLite calls full', () => {
    const database = new DatabaseSync(':memory:')
    database.exec('PRAGMA max_page_count = 2; CREATE TABLE t (x)')
    expect(() => database.exec('INSERT INTO t VALUES (zeroblob(100000))')).to.throw().that.satisfies(isDiskFull)
    expect(() => database.exec('INSERT INTO none VALUES (1)')).to.throw().that.does.not.satisfy(isDiskFull)
    database.close()
  })

  it('is named with what to do, where a gateway cannot even lock its folder', function () {
    if (process.platform !== 'linux') return this.skip() // which has a file that is always full
    const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-full-'))
    const locking = () => lock(join(folder, 'gateway.lock'), '/dev/full', () => new Error('in use'))
    expect(locking).to.throw(`The disk of ${folder} is full.`).that.includes({ code: 'SLUICE_DISK_FULL' })
    rmSync(folder, { recursive: true })
  })

  it('changes no other error', () => {
    const error = new Error('another')
    expect(namingDisk(error, '/data')).to.equal(error)
  })
})
