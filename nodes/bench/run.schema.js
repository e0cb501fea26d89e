import { nodeSchema } from '../schema.js'
import { SERVERS, serverOption } from './server-urls.js'

/** @typedef {import('../../resources/options.js').Property} Property */

const STUDIES = {
  arnst: 'Arnst: rows and documents, one or many at a time',
  scits: 'SciTS: batches, clients and queries',
  weissbach: 'Weißbach: updates by key',
  warp10: 'Warp 10: a log in text formats',
  haenisch: 'Haenisch: size of batches and number of writers',
  studies: 'all five, one after the other',
  capacity: 'capacity: how many sensors this machine takes'
}

const LABELS = { postgresql: 'PostgreSQL', mysql: 'MySQL', mongodb: 'MongoDB', influxdb: 'InfluxDB', clickhouse: 'ClickHouse' }

/** What a list of numbers looks like. */
const NUMBERS = '^\\s*\\d+(\\.\\d+)?(\\s*,\\s*\\d+(\\.\\d+)?)*\\s*$'
const OWN = { '': 'as in the study' }

/** @param {string} title @param {string} description @returns {Property} */
const words = (title, description) => ({ type: 'string', title, description, default: '', 'x-labels': OWN })

/** @param {string} title @param {string} description @returns {Property} */
const numbers = (title, description) => ({
  ...words(title, description), pattern: `^$|${NUMBERS}`, examples: ['1, 100, 1000'], 'x-advanced': true
})

/** @param {string} title @param {string} description @param {object} limits @returns {Property} */
const number = (title, description, limits) => ({
  type: 'number', title, description, default: null, 'x-labels': OWN, 'x-advanced': true, ...limits
})

/** What can be chosen instead of the study's own, under the names of the command line. @type {Record<string, Property>} */
export const sweepProperties = {
  databases: words('Databases', 'Of these only, with commas: sqlite, duckdb, file, postgresql, mysql, mongodb, influxdb, clickhouse.'),
  layouts: { ...words('Layouts', 'Of these only, with commas, where the study compares layouts.'), 'x-advanced': true },
  batchSizes: numbers('Batch sizes', 'Rows a batch, with commas.'),
  writers: numbers('Writers', 'How many write at the same time, with commas.'),
  sensors: numbers('Sensors', 'How many sensors there are, with commas.'),
  seconds: number('Duration', 'How long each cell is measured.', { exclusiveMinimum: 0, maximum: 86_400, 'x-unit': 's' }),
  rows: number('Rows', 'How many rows each cell writes at most.', { minimum: 1, maximum: 10_000_000_000, 'x-unit': 'rows' }),
  warmUpSeconds: number('Warm-up', 'How long each cell runs before it is measured.', { exclusiveMinimum: 0, maximum: 3600, 'x-unit': 's' }),
  repetitions: number('Repetitions', 'How often each query or cell is repeated.', { minimum: 1, maximum: 10_000 })
}

/** @type {[string, Property][]} */
const servers = SERVERS.map(type => [serverOption(type), {
  type: 'string',
  title: LABELS[/** @type {keyof typeof LABELS} */ (type)],
  description: 'Where this database is measured: a server without TLS, with an empty database that nothing else uses; the bench fills ' +
    'it and empties it again.',
  default: '',
  'x-node': `sluice-${type}-server`
}])

export const schema = nodeSchema({
  properties: {
    study: {
      type: 'string',
      title: 'Study',
      description: 'The paper whose measurements are repeated; or a load that grows until this machine no longer takes it.',
      enum: Object.keys(STUDIES),
      'x-labels': STUDIES,
      default: 'haenisch'
    },
    size: {
      type: 'string',
      title: 'Size',
      description: 'quick takes minutes, and the report says what was cut; full has the sizes and durations of the paper, and takes hours.',
      enum: ['quick', 'full'],
      'x-labels': { quick: 'quick: minutes', full: 'full: as in the paper, hours' },
      default: 'quick'
    },
    ...Object.fromEntries(servers),
    ...sweepProperties,
    limit: {
      type: 'string',
      title: 'Limit',
      description: 'Holds the gateway\'s part back to be like a small machine, such as cores=0.5,memory=512M; the first line of the ' +
        'report says so.',
      default: '',
      'x-labels': { '': 'none' },
      'x-advanced': true
    },
    resume: {
      type: 'boolean',
      title: 'Go on',
      description: 'What was stopped goes on where it was when it is started again with the same options. Otherwise it begins anew.',
      default: true,
      'x-advanced': true
    },
    folder: {
      type: 'string',
      title: 'Reports in',
      description: 'The folder that gets a folder for each run. Relative to the folder "sluice" in Node-RED\'s user directory.',
      minLength: 1,
      default: 'bench-reports',
      'x-advanced': true
    }
  }
})
