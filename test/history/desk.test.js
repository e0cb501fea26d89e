import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { expect } from 'chai'
import { serveHistory } from '../../gateway/history/desk.js'
import { MadeUpGateway, START_MS, STEP_MS } from './gateways.js'

const DAY = 86_400_000

describe('History over HTTP', () => {
  /** @type {string} */
  let folder
  /** @type {MadeUpGateway} */
  let gateway
  /** @type {import('node:http').Server} */
  let server
  /** @type {string} */
  let origin

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-history-'))
    gateway = new MadeUpGateway(folder)
    const source = gateway.stats.meter('source', 'press "1", left')
    const sink = gateway.stats.meter('sink', 'plant', 'c0ffee')
    await gateway.run(12, step => {
      source.rows += 100
      sink.rows += 10 * step
      sink.retries += step
    })
    server = createServer((request, response) => {
      if (!serveHistory(gateway.history, request, response, { 'X-Kept': 'yes' })) response.writeHead(404).end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`
  })

  afterEach(async () => {
    server.closeAllConnections()
    server.close()
    await gateway.history.close()
    await rm(folder, { recursive: true })
  })

  const get = (/** @type {string} */ path) => fetch(`${origin}${path}`)
  const window = () => `from=${START_MS}&to=${gateway.nowMs}`

  it('lists every series with its unit and explanation', async () => {
    const listed = await (await get('/history/series')).json()
    expect(listed).to.deep.include({
      key: 'sink/c0ffee/retries',
      subject: { type: 'sink', id: 'c0ffee', name: 'plant', nodeId: 'c0ffee' },
      measure: 'retries',
      unit: 'writes',
      help: 'Writes that were tried again.'
    })
    for (const { key, help, unit } of listed) {
      expect(help, key).to.match(/^[A-Z1].*\.$/)
      expect(unit).to.be.a('string')
    }
    expect(new Set(listed.map((/** @type {{key: string}} */ { key }) => key)).size).to.equal(listed.length)
  })

  it('answers each series in the steps of the window', async () => {
    const response = await get(`/history?${window()}&series=sink/c0ffee/rows,sink/c0ffee/retries&series=sink/gone/rows`)
    expect(response.headers.get('x-kept')).to.equal('yes')
    expect(await response.json()).to.deep.equal({
      fromMs: START_MS,
      toMs: gateway.nowMs,
      stepMs: STEP_MS,
      series: {
        'sink/c0ffee/rows': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
        'sink/c0ffee/retries': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
        'sink/gone/rows': new Array(12).fill(null)
      }
    })
  })

  it('answers in no more points than are asked for, rates as means and counts as sums', async () => {
    for (const points of [1, 2, 3, 5, 7]) {
      const answer = await (await get(`/history?${window()}&points=${points}&series=sink/c0ffee/retries,sink/c0ffee/rows`)).json()
      const retries = answer.series['sink/c0ffee/retries']
      expect(retries.length).to.be.within(1, points)
      expect(answer.fromMs).to.be.at.most(START_MS)
      expect(answer.toMs).to.be.least(gateway.nowMs).and.equal(answer.fromMs + retries.length * answer.stepMs)
      expect(retries.reduce((/** @type {number} */ sum, /** @type {number} */ count) => sum + count, 0)).to.equal(66)
    }
    const [mean] = (await (await get(`/history?${window()}&points=1&series=sink/c0ffee/rows`)).json()).series['sink/c0ffee/rows']
    expect(mean).to.equal(5.5)
    const days = `from=${gateway.nowMs - 30 * DAY}&to=${gateway.nowMs}`
    const month = await (await get(`/history?${days}&points=2000&series=sink/c0ffee/rows`)).json()
    expect(month.stepMs % 300_000).to.equal(0)
    expect(month.series['sink/c0ffee/rows'].length).to.be.at.most(2000)
  })

  it('answers CSV with names, units and ISO times', async () => {
    const listed = await gateway.history.list()
    const key = listed.find(({ subject, measure }) => subject.type === 'source' && measure === 'rows')?.key
    const response = await get(`/history.csv?${window()}&series=${encodeURIComponent(String(key))},sink/c0ffee/retries,sink/gone/rows`)
    expect(response.headers.get('content-type')).to.equal('text/csv; charset=utf-8')
    const [titles, ...lines] = parse(await response.text())
    expect(titles).to.deep.equal(['time', 'source press "1", left rows (rows/s)', 'sink plant retries (writes)', 'sink gone rows (rows/s)'])
    expect(lines.length).to.equal(12)
    expect(lines[3]).to.deep.equal([new Date(START_MS + 3 * STEP_MS).toISOString(), '10', '3', ''])
  })

  it('finds its steps at once, however long the window and few the points', async () => {
    for (const [from, to, points] of [[1e15, 5e15, 2], [1, 8e15, 1], [4_999_999_999_999, 5_000_000_000_001, 1], [0, 2e14, 2000]]) {
      const { stepMs, series } = await (await get(`/history?from=${from}&to=${to}&points=${points}&series=sink/c0ffee/rows`)).json()
      expect(series['sink/c0ffee/rows'].length).to.be.within(1, points)
      expect(stepMs).to.be.at.most(Math.max(to, 300_000) * 1.1)
    }
  })

  it('has a title for a key that is no encoding', async () => {
    const response = await get(`/history.csv?${window()}&series=source/%25/rows`)
    expect((await response.text()).split('\r\n', 1)).to.deep.equal(['time,source % rows (rows/s)'])
  })

  it('refuses what it does not know, and more than it answers at once', async () => {
    const many = Array.from({ length: 51 }, (_, i) => `sink/${i}/rows`).join(',')
    const refused = [
      'series=sink/c0ffee/nothing', 'series=nothing', 'series=constructor/a/rows', '', `series=${many}`,
      'series=sink/c0ffee/rows&points=2001', 'series=sink/c0ffee/rows&points=1.5',
      'series=sink/c0ffee/rows&points=0', 'series=sink/c0ffee/rows&points=x',
      'series=sink/c0ffee/rows&from=5&to=4', 'series=sink/c0ffee/rows&from=yesterday', 'series=sink/c0ffee/rows&to=1e300'
    ]
    for (const query of refused) {
      for (const path of ['/history', '/history.csv']) {
        const response = await get(`${path}?${query}`)
        expect(response.status, query).to.equal(400)
        expect(await response.text()).to.contain('SLUICE_HISTORY_QUERY')
      }
    }
  })

  it('leaves all else to others', async () => {
    expect((await get('/history/')).status).to.equal(404)
    expect((await get('/toString')).status).to.equal(404)
    expect((await fetch(`${origin}/history/series`, { method: 'POST' })).status).to.equal(404)
  })
})
