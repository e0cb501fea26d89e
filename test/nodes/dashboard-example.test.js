import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'

describe('The example for FlowFuse\'s dashboard', () => {
  it('draws the newest row of what has arrived, at its own time: a line for each number', async () => {
    const nodes = JSON.parse(await readFile('examples/3 Databases/dashboard.json', 'utf8'))
    const { func, wires: [[next]] } = nodes.find((/** @type {{type: string}} */ { type }) => type === 'function')
    const chart = nodes.find((/** @type {{id: string}} */ { id }) => id === next)
    expect(chart).to.include({ type: 'ui-chart', category: 'topic', xAxisProperty: 'timestamp', yAxisProperty: 'payload' })
    const payload = new Batch({
      source: 'press',
      time: BigInt64Array.of(1_700_000_000_000_000_000n, 1_700_000_000_250_000_001n),
      fields: [{ name: 'force', type: 'float64' }, { name: 'parts', type: 'int32' }, { name: 'state', type: 'string' }],
      columns: [Float64Array.of(1, 2.5), Int32Array.of(3, 4), ['stopped', 'running']]
    })
    expect(new Function('msg', func)({ payload })).to.deep.equal([[
      { topic: 'force', payload: 2.5, timestamp: 1_700_000_000_250 },
      { topic: 'parts', payload: 4, timestamp: 1_700_000_000_250 }
    ]])
  })
})
