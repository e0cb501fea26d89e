import { readerTypes } from '../../../databases/index.js'
import { benchOf } from '../../sinks/bench-of.js'
import { measureReading } from './reading.js'
import { report } from './report.js'
import { Stand } from './stand.js'
import { writingsOf } from './variants.js'
import { measureWriting } from './writing.js'

/**
 * What a machine tool's samples cost the database, the client and the network, written in real time and read by cycle.
 *
 * @typedef {import('../study.js').Cell} Cell
 */

const DATABASES = ['mysql', 'mongodb', 'influxdb']
const FULL = { warmUpSeconds: 5 * 60, seconds: 15 * 60 }
const QUICK = { warmUpSeconds: 5, seconds: 20 }
/** To start a server and a client, to count, to check. */
const BESIDES_SECONDS = 3

/** @type {import('../study.js').Study} */
export const arnst = {
  id: 'arnst',
  title: 'Database read and write performance in an Internet of Things context',
  paper: 'D. Arnst, T. Herpich, V. Plenk, A. Wöltche: Comparative Evaluation of Database Read and Write Performance in an Internet of ' +
    'Things Context. International Journal on Advances in Internet Technology, vol. 12 no. 1 & 2, 2019.',

  plan ({ isFull, sweep }) {
    const own = isFull ? FULL : QUICK
    const { databases = DATABASES, layouts, warmUpSeconds = own.warmUpSeconds, seconds = own.seconds } = sweep
    const isChosen = (/** @type {string} */ layout) => !layouts || layouts.includes(layout)
    const time = { warmUpSeconds, seconds }
    /** @type {Cell[]} */
    const cells = []
    const add = (/** @type {string} */ work, /** @type {string} */ variant, /** @type {Cell['parameters']} */ more) => cells.push({
      id: `${work}-${variant}`,
      label: `${variant}, ${work}`,
      parameters: { work, variant, ...more, ...time },
      seconds: warmUpSeconds + seconds + BESIDES_SECONDS
    })
    for (const database of databases) {
      for (const { id, layout, readers } of writingsOf(database)) {
        if (isChosen(layout)) add('write', id, { database, layout })
        for (const { id: variant, strategy } of readers) {
          if (isChosen(strategy)) add('read', variant, { database, layout, strategy, writer: id })
        }
      }
    }
    const minutes = `${warmUpSeconds} s of warm-up and ${seconds} s of measuring for each, instead of 5 and 15 minutes`
    return { cells, cut: warmUpSeconds < FULL.warmUpSeconds || seconds < FULL.seconds ? [`${minutes}.`] : [] }
  },

  async missing ({ parameters: { database } }, servers) {
    if (!Object.hasOwn(readerTypes, database)) return 'Sluice does not read from it.'
    return (await benchOf(database)).missing(servers)
  },

  async measure ({ parameters }, context) {
    const { work, variant, database, writer = variant } = parameters
    const stand = await context.shared(async folder => {
      const bench = await benchOf(database)
      return new Stand(folder, own => bench.start(own, context.servers))
    })
    const own = { ...context, stand }
    const given = /** @type {any} */ (parameters)
    return work === 'write' ? measureWriting(String(variant), given, own) : measureReading(String(writer), given, own)
  },

  report
}
