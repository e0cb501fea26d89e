import { expect } from 'chai'
import { chaos, members } from '../cli/process.js'
import { missingKafka } from '../servers/kafka.js'
import { requirePostgresql } from '../servers/postgresql.js'
import { requireServer } from '../servers/programs.js'

/** @param {string} stdout */
const resultIn = stdout => JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')

describe('Staged in Kafka', function () {
  this.timeout(1_200_000)

  before(function () { requireServer(this, 'kafka', missingKafka()) })

  it('nothing is lost and nothing doubled while gateway and Kafka are killed, and partitions are emptied', async () => {
    const { code, stdout, stderr } = await chaos('--broker', 'kafka', '--sinks', 'sqlite', '--kills', '6', '--seed', '1').exit
    expect(code, `${stdout}\n${stderr}`).to.equal(0)
    const { produced, killed, ...result } = resultIn(stdout)
    expect(produced).to.be.greaterThan(1000)
    expect(result).to.include({ stored: produced, lost: 0, countedLost: 0, doubled: 0 })
    for (const event of ['gateway', 'broker', 'brokerForgot']) expect(killed[event], event).to.be.greaterThan(0)
  })

  it('nothing is lost and nothing doubled while members of a group are killed', async function () {
    requirePostgresql(this)
    const { code, stdout, stderr } = await members('--seconds', '15', '--rate', '20000', '--every', '5').exit
    expect(code, `${stdout}\n${stderr}`).to.equal(0)
    const { kills, produced, stored } = resultIn(stdout)
    expect(kills).to.be.greaterThan(0)
    expect(produced).to.be.greaterThan(1000)
    expect(stored).to.equal(produced)
  })
})
