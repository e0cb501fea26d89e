import { manyAtOnce } from '../../base/many-at-once.js'
import { connect } from '../../databases/warp10/connection.js'
import { makePlan, seriesOf } from '../../databases/warp10/series.js'
import { all } from '../../databases/warp10/selector.js'
import { encodeWarp10 } from '../../messages/codecs/warp10/encode.js'
import { refuseWhatIsThere } from '../empty.js'

/** @typedef {import('../../batch/batch.js').Batch} Batch */

const REQUESTS_AT_ONCE = 2

/** Requests of the naive way under way at once. */
const NAIVE_AT_ONCE = 32

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'Warp 10, a series per field',
  missing: servers => servers('warp10').missing(),
  note: 'points are fields, two a row',
  async start (folder, servers) {
    const server = await servers('warp10').start({ folder })
    const { host, port, user: writeToken, password: readToken } = server
    const login = { host, port, writeToken, readToken }
    const own = connect(login)
    const address = { type: 'warp10', options: {}, login }
    const first = -(2n ** 63n)
    const last = 2n ** 63n - 1n
    const clear = () => own.remove(all({}), first, last)
    const there = async () => {
      for await (const { series: { name, labels } } of own.points({ selector: all({}), count: 1 })) return [`${name}{id=${labels.id}}`]
      return []
    }
    /** Into the series as our sink makes them. @param {Buffer[]} requests @param {number} atOnce */
    const send = async (requests, atOnce) => {
      const start = performance.now()
      await manyAtOnce(atOnce, requests, lines => own.write(lines))
      return (performance.now() - start) / 1000
    }
    const { unitNs } = await own.facts()
    /** @param {Batch[]} batches */
    const requestsOf = async batches => {
      const plan = await makePlan(own, { name: batches[0].source, arranged: batches[0], withSource: false }, false)
      const start = performance.now()
      const requests = batches.flatMap(batch => [...encodeWarp10(seriesOf(plan, batch, unitNs), 'optimized', { unitNs, isExact: true })])
      return { requests, seconds: (performance.now() - start) / 1000 }
    }
    await refuseWhatIsThere(server, there)
    return {
      version: 'Warp 10',
      settings: `a tick is ${unitNs} ns`,
      address,
      watched: server.watched,
      clear,
      async count () {
        let count = 0
        for await (const { series } of own.points({ selector: all({ id: 'rows' }) })) if (series.name === 'value') count++
        return count
      },
      loader: {
        name: `the same lines over HTTP, ${REQUESTS_AT_ONCE} requests at once`,
        async run (batches) {
          const { requests, seconds } = await requestsOf(batches)
          return seconds + await send(requests, REQUESTS_AT_ONCE)
        }
      },
      naive: {
        name: `a request a row, ${NAIVE_AT_ONCE} at once`,
        rows: 2000,
        async run (batches) {
          const rows = batches.flatMap(batch => Array.from({ length: batch.rows }, (_, row) => batch.slice(row, row + 1)))
          return send((await requestsOf(rows)).requests, NAIVE_AT_ONCE)
        }
      },
      async remove () {
        if (!server.remove) await clear()
        await own.close()
        await server.remove?.()
      }
    }
  }
}
