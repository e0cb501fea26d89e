import { SluiceError } from '../base/errors.js'
import { aggregate, aggregateOf, bucketHours, range, sensors, tags } from './parameters.js'

/**
 * The five queries of SciTS (Mostafa, Wehbi, Chilingaryan and Kopmann, "SciTS: A Benchmark for Time-Series Databases in Scientific
 * Experiments and Industrial Internet of Things"), by their purpose.
 *
 * @typedef {import('./index.js').Query} Query
 */

/** Q1. @type {Query} */
export const raw = {
  title: 'Raw values',
  columns: () => ['time', 'sensor', 'value'],
  schema: {
    type: 'object',
    properties: {
      sensors: { ...sensors, description: `${sensors.description} Of raw values, none means all of the table.`, minItems: 0 },
      ...range,
      tags
    }
  },
  async * read (reader, { sensors: names, tags: wanted, from, to }, { signal, pageRows }) {
    const all = names.length === 0 ? await sensorsOf(reader, { tags: wanted, from, to, signal }) : unique(names)
    yield * reader.samples({ sensors: all, tags: wanted, from, to, signal, pageRows })
  }
}

/** Q2. @type {Query} */
export const outOfRange = {
  title: 'Intervals out of range',
  columns: () => ['time', 'sensor', 'min', 'max'],
  schema: {
    type: 'object',
    properties: {
      sensors: { ...sensors, maxItems: 1 },
      ...range,
      tags,
      bucketHours,
      lower: {
        type: 'number',
        title: 'Lower limit',
        description: 'An interval is out of range when a value in it is below. Empty: no lower limit.',
        default: null
      },
      upper: {
        type: 'number',
        title: 'Upper limit',
        description: 'An interval is out of range when a value in it is above. Empty: no upper limit.',
        default: null
      }
    }
  },
  async * read (reader, { sensors: names, tags: wanted, from, to, bucketNs, lower, upper }, { signal }) {
    if (lower === null && upper === null) {
      throw new SluiceError('SLUICE_QUERY_PARAMETERS', 'A query for intervals out of range has no limits.', {
        fix: 'Give a lower or an upper limit, or both.'
      })
    }
    const where = { tags: wanted, from, to, bucketNs }
    const summaries = await reader.summaries({ sensors: names, ...where, statistics: ['min', 'max'], signal })
    yield summaries.filter(({ min, max }) => (lower !== null && Number(min) < lower) || (upper !== null && Number(max) > upper))
  }
}

/** Q3: as printed, one value over all sensors. @type {Query} */
export const deviation = {
  title: 'Standard deviation',
  columns: ({ aggregate: chosen }) => [...new Set(['time', 'sensor', 'count', aggregateOf(chosen, 'stddev')])],
  schema: {
    type: 'object',
    properties: {
      sensors,
      ...range,
      tags,
      aggregate,
      perSensor: {
        type: 'boolean',
        title: 'Per sensor',
        description: 'One value for each sensor, instead of one over all of them.',
        default: false
      }
    }
  },
  async * read (reader, { sensors: names, tags: wanted, from, to, aggregate: chosen, perSensor }, { signal }) {
    const statistics = [...new Set([/** @type {const} */ ('count'), aggregateOf(chosen, 'stddev')])]
    yield await reader.summaries({ sensors: unique(names), tags: wanted, from, to, statistics, together: !perSensor, signal })
  }
}

/** Q4. @type {Query} */
export const mean = {
  title: 'Means of intervals',
  columns: ({ aggregate: chosen }) => ['time', 'sensor', aggregateOf(chosen, 'mean')],
  schema: { type: 'object', properties: { sensors, ...range, tags, bucketHours, aggregate } },
  async * read (reader, { sensors: names, tags: wanted, from, to, bucketNs, aggregate: chosen }, { signal }) {
    const statistics = [aggregateOf(chosen, 'mean')]
    yield await reader.summaries({ sensors: unique(names), tags: wanted, from, to, bucketNs, statistics, signal })
  }
}

/** Q5. Intervals in which one of the two has no values are left out. @type {Query} */
export const difference = {
  title: 'Difference of two sensors',
  columns: () => ['time', 'sensor', 'other', 'difference'],
  schema: { type: 'object', properties: { sensors: { ...sensors, minItems: 2, maxItems: 2 }, ...range, tags, bucketHours, aggregate } },
  async * read (reader, { sensors: [first, second], tags: wanted, from, to, bucketNs, aggregate: chosen }, { signal }) {
    const names = unique([first, second])
    const statistic = aggregateOf(chosen, 'mean')
    const summaries = await reader.summaries({ sensors: names, tags: wanted, from, to, bucketNs, statistics: [statistic], signal })
    const of = (/** @type {string} */ name) => {
      const its = summaries.filter(each => each.sensor === name && each[statistic] !== undefined)
      return new Map(its.map(each => [each.time, Number(each[statistic])]))
    }
    const others = of(second)
    yield [...of(first)].flatMap(([time, value]) => {
      const other = others.get(time)
      return other === undefined ? [] : [{ time, sensor: first, other: second, difference: value - other }]
    })
  }
}

/** @param {string[]} names */
function unique (names) {
  return [...new Set(names)]
}

/** @param {import('../databases/reader.js').Reader} reader @param {Omit<import('../databases/reader.js').Range, 'sensors'>} times */
function sensorsOf (reader, times) {
  if (reader.sensors) return reader.sensors(times)
  throw new SluiceError('SLUICE_QUERY_PARAMETERS', 'This database does not list its sensors.', { fix: 'Name the sensors to read.' })
}
