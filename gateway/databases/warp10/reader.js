import { SluiceError } from '../../base/errors.js'
import { floor } from '../../batch/layouts.js'
import { tagOf } from '../../messages/codecs/warp10/text.js'
import { KeyedReader } from '../keyed/reader.js'
import { readerOptions } from '../reading/options.js'
import { dialect } from './dialect.js'
import { seriesOf } from './points.js'
import { pointsInOrder } from './ranges.js'
import { schema } from './reader.schema.js'
import { all, exactly } from './selector.js'

export { schema }

/** @typedef {{columns: {name: string, kind: string}[], unitNs: bigint}} Facts */

/** Of that many classes, all are asked for: a request has no room to name them. */
const MOST_CLASSES = 30

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server?: any}} context  `server`: a Warp10Server
 * @returns {Promise<import('../reader.js').Reader>}
 */
export async function open (given, { server }) {
  const options = readerOptions(schema, given)
  const labels = { id: options.table, ...options.source !== '' && { source: options.source } }
  /** @type {import('../keyed/reader.js').Readable<Facts>} */
  const readable = {
    place: `what has the label id "${options.table}" on ${server.place}`,
    code: 'SLUICE_QUERY_WARP10',
    ownNames: dialect.ownNames,
    kinds: ['class'],
    textKind: 'label',
    async facts (signal) {
      /** @type {import('./points.js').Series[]} */
      const series = (await server.heads(all({ id: options.table }), signal)).map(seriesOf)
      if (series.length === 0) {
        throw new SluiceError('SLUICE_QUERY_TABLE', `There is no series with the label id "${options.table}" on ${server.place}.`, {
          fix: 'Check the label; the sink creates series with its first batch.'
        })
      }
      const names = (/** @type {string} */ kind, /** @type {string[]} */ its) => Array.from(new Set(its), name => ({ name, kind }))
      return {
        columns: [
          ...names('class', series.map(({ name }) => name)),
          ...names('label', series.flatMap(each => Object.keys(each.labels).map(tagOf)))
        ],
        unitNs: (await server.facts(signal)).unitNs
      }
    },
    async * rows ({ columns, unitNs }, names, { from, last, signal }) {
      const isClass = new Set(columns.flatMap(({ name, kind }) => kind === 'class' ? [name] : []))
      const classes = names.filter(name => isClass.has(name))
      const selector = classes.length > MOST_CLASSES ? all(labels) : classes.map(name => exactly(name, labels)).join(' ')
      const ticks = { from: floor(from, unitNs) / unitNs, to: floor(last, unitNs) / unitNs, signal }
      const nothing = names.map(name => [name, null])
      for await (const { ns, series, value } of pointsInOrder(server, selector, ticks)) {
        if (ns < from || ns > last || !isClass.has(series.name)) continue
        const tags = Object.entries(series.labels).map(([label, text]) => [tagOf(label), text])
        const its = value.type === 'bool' ? Number(value.value) === 1 : value.value
        yield /** @type {any} */ (Object.fromEntries([...nothing, ...tags, [series.name, its], ['time_ns', ns]]))
      }
    }
  }
  return new KeyedReader(options, readable)
}
