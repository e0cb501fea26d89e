import { search, shares, simulated } from './figures.js'
import { outcomesOf } from './outcomes.js'
import { READERS, WRITERS } from './published.js'
import { ranking } from './ranking.js'
import { costTable, readingPace, writingPace } from './tables.js'

/**
 * @typedef {import('../study.js').Section} Section
 * @typedef {import('./outcomes.js').Outcome} Outcome
 */

const BOTH = [
  'All is on one machine here. The paper has one for the database, a Banana Pi for the writer and a desktop computer for the reader.',
  'Memory is resident; of a server of several processes, what they share counts once. Network is what the client’s sockets carried, ' +
  'both ways, without headers.',
  'The difficulty is the paper’s.'
]
const WRITING = [
  'The client is the gateway’s writer and sink, in Node.js, with the simulated machine in the same process. The paper’s are in C and C++.',
  'Two commits may be on their way at once, as the sinks are unless they are set otherwise; one in the paper.',
  'Disk is the growth of the data folder over the warm-up and the measuring, taken for 20 minutes.'
]
const READING = [
  'The client is the gateway’s query, in Node.js; it reads what the writer of the same name has stored.',
  'Bulk-1 reads the other channels of the cycle, from t4 to t5; the paper’s text says from t1 to t5.'
]
const UDP = 'InfluxDB is written to over HTTP, in requests of 100 ms. In the paper it is over UDP, a datagram a sample.'
const FERRETDB = 'FerretDB is not mongod: it keeps its documents in a PostgreSQL of its own, and the figures are of both.'

/** @param {import('../study.js').StudyResult} result @returns {Section[]} */
export function report (result) {
  const [writers, readers] = [outcomesOf(result, 'write', WRITERS), outcomesOf(result, 'read', READERS)]
  const ferretdb = about([...writers, ...readers], 'FerretDB', FERRETDB)
  const sections = [
    { title: 'Scores', blocks: [ranking(writers, readers)] },
    {
      title: 'Writing',
      text: [
        'A machine tool with five channels, 1000 samples a second. “Individual” is a commit for each sample, “bulk” one for each second.'
      ],
      blocks: [
        costTable('Table IV: write benchmarks', writers, WRITERS, [
          ...about(writers, 'InfluxDB', UDP), ...ferretdb, ...WRITING, ...BOTH
        ]),
        writingPace(writers),
        shares('Figure 4: all write values, in percent of the highest', writers, WRITERS)
      ]
    },
    {
      title: 'Reading',
      text: [
        'Three cycles of the machine a second, around random times. “Individual”: the database finds the ends of the cycle. “Bulk”: two ' +
        'seconds of all channels are read and searched in the client. “Bulk-1”: two seconds of the angle, then the cycle of the others.'
      ],
      blocks: [
        costTable('Table V: read benchmarks', readers, READERS, [...ferretdb, ...READING, ...BOTH]),
        readingPace(readers),
        shares('Figure 5: all read values, in percent of the highest', readers, READERS)
      ]
    },
    { title: 'The data, and how a cycle is found', blocks: [...simulated(result), ...search(result)] }
  ]
  return sections.filter(({ blocks }) => blocks.length > 0)
}

/** @param {Outcome[]} outcomes @param {string} product @param {string} note  of what was measured with it */
function about (outcomes, product, note) {
  return outcomes.some(({ cell, label }) => cell && label.startsWith(product)) ? [note] : []
}
