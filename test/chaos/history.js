import { expect } from 'chai'
import { chaos } from '../cli/process.js'

/**
 * Call it within `describe`.
 * @param {import('./rig/brokers.js').BrokerName} broker  what the batches are staged in
 * @param {number} events
 */
export function historyTest (broker, events) {
  it('loses nothing uncounted and doubles nothing while flows change, spools are damaged and databases set back', async () => {
    const { code, stdout, stderr } = await chaos(
      '--broker', broker, '--sinks', 'sqlite', '--kills', String(events), '--seed', '1',
      '--deploys', '--damage', '--changes', '--set-back', '--gateways', '2'
    ).exit
    const last = stdout.trimEnd().split('\n').at(-1) ?? ''
    console.log(`      ${last}`)
    expect(code, `${stdout}\n${stderr}`).to.equal(0)

    const { produced, ...result } = JSON.parse(last)
    expect(produced).to.be.greaterThan(1000)
    expect(result).to.include({ kills: events, lost: 0, doubled: 0 })
    expect(result.sources).to.include('devices')
    expect(Object.keys(result.sinks)).to.have.members(['sqlite', 'sqlite2', 'changed', 'changed2'])
    for (const kind of ['deploy', 'damage', 'setBack']) expect(result[kind], kind).to.be.greaterThan(0)
  })
}
