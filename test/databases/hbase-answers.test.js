import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect } from 'chai'
import { connect } from '../../gateway/databases/hbase/connection.js'
import { tableFacts } from '../../gateway/databases/hbase/tables.js'
import { failureOf } from './contract/batches.js'

const PAGE = JSON.stringify({ servlet: 'org.x.ServletContainer-1', message: 'Request failed.', url: '/x:press/*' }, null, 1)

const AT = '\n\tat org.apache.hadoop.hbase.client.Y.z(Y.java:1)\n\tat java.base/java.lang.Thread.run(Thread.java:840)\n'
const STARTING = 'Unavailable\r\norg.apache.hadoop.hbase.client.RetriesExhaustedException: Failed after attempts=6, exceptions:\n' +
  '2026-11-28T21:14:20.870Z, RpcRetryingCaller{globalStartTime=2026-11-28T21:14:19.035Z, pause=100, maxAttempts=6}, ' +
  `org.apache.hadoop.hbase.ipc.ServerNotRunningYetException: Server is not running yet${AT}`
const UNSERVED = `Unavailable\r\norg.apache.hadoop.hbase.NotServingRegionException: x:press,,1.c6. is not online on a,1,1${AT}`
const DISABLED = `Unavailable\r\norg.apache.hadoop.hbase.TableNotEnabledException: x:press is disabled.${AT}`

/** A fake: a REST server that answers as HBase's does. */
describe('What a REST server of HBase answers', () => {
  /** @type {[status: number, text: string][]} the next ones; the last one stays */
  let answers = []
  let asked = 0
  let isThere = true
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/schema')) return response.writeHead(isThere ? 200 : 404).end('{}')
    const [status, text] = answers.length > 1 ? /** @type {[number, string]} */ (answers.shift()) : answers[0]
    asked++
    response.writeHead(status)
    response.end(text)
  })
  /** @type {import('../../gateway/databases/hbase/connection.js').HbaseServer} */
  let hbase
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    hbase = connect({ port: /** @type {any} */ (server.address()).port, database: 'x' })
  })
  beforeEach(() => { asked = 0 })
  after(async () => {
    await hbase.close()
    server.closeAllConnections()
    server.close()
  })

  const put = () => failureOf(() => hbase.put('press', Buffer.alloc(0)))

  it('is told with its status, without what surrounds it, and with what to do', async () => {
    answers = [[500, PAGE]]
    const log = 'Servers that start need a moment. Where this lasts, the log of the REST server says more.'
    expect((await put()).message).to.match(/^HBase at .*, namespace "x" answers 500: Internal Server Error\. Servers that/)
      .and.to.include(log)
    answers = [[503, STARTING]]
    expect((await put()).message).to.include(`answers 503: ServerNotRunningYetException: Server is not running yet. ${log}`)
    answers = [[503, UNSERVED]]
    expect((await put()).message).to.match(/is not online on a,1,1\. .* may be disabled: .* by enable 'x:press'\.$/)
    answers = [[503, DISABLED]]
    expect((await put()).message).to.match(/answers 503: TableNotEnabledException: x:press is disabled\. .* by enable 'x:press'\.$/)
  })

  it('of a table that is closed for a moment, as another changes it, is waited for', async () => {
    answers = [[500, PAGE], [503, DISABLED], [200, '{"Row":[]}']]
    expect(await hbase.rows('press', { from: 'a', to: 'b' })).to.deep.equal([])
    expect(asked).to.equal(3)
  })

  it('of a table that is not there is not waited for', async () => {
    answers = [[500, PAGE]]
    isThere = false
    await failureOf(() => hbase.rows('press', { from: 'a', to: 'b' }))
    expect(asked).to.equal(1)
    expect(await tableFacts(hbase, 'press')).to.equal(null)
    isThere = true
  })

  it('is not waited for where rows are stored: the writer tries again, and finds those that are refused', async () => {
    answers = [[500, PAGE], [200, '']]
    await put()
    expect(asked).to.equal(1)
  })

  it('ends the waiting when it is aborted', async () => {
    answers = [[500, PAGE]]
    const ends = AbortSignal.timeout(50)
    expect(await failureOf(() => hbase.rows('press', { from: 'a', to: 'b' }, ends))).to.equal(ends.reason)
  })
})
