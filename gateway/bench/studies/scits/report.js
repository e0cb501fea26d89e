import { settingsOf } from './csv.js'
import { DATABASES } from './databases.js'
import { PARAMETERS, SCALING_NOTES, VERSIONS } from './published.js'
import { batching, concurrency, scaling } from './report-ingest.js'
import { queries } from './report-queries.js'

/**
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').DoneCell} DoneCell
 * @typedef {import('../study.js').Section} Section
 *
 * @typedef {object} Found  what the sections are made of
 * @property {string[]} databases  the paper's in its order, then ours that were chosen
 * @property {(database: string, workload: string) => DoneCell[]} done
 * @property {(database: string, workload: string) => string} whyNot  there is none
 */

/** @param {StudyResult} result @returns {Section[]} */
export function report ({ cells }) {
  const done = cells.filter(cell => cell.state === 'done')
  const chosen = new Set(cells.map(({ parameters }) => String(parameters.database)))
  /** @type {Found} */
  const found = {
    databases: Object.keys(DATABASES).filter(each => !DATABASES[each].isOwn || chosen.has(each)),
    done: (database, workload) => done.filter(({ parameters }) => parameters.database === database && parameters.workload === workload),
    whyNot (database, workload) {
      const its = cells.filter(({ parameters }) => parameters.database === database)
      const missing = its.filter(({ state }) => state !== 'done')
      const other = missing.find(({ parameters }) => parameters.workload === workload) ?? missing[0]
      return other && 'reason' in other ? other.reason : its.length > 0 ? 'It was stopped before.' : 'It was not chosen.'
    }
  }
  return [
    {
      title: 'What was measured',
      text: [
        'Rows of a timestamp, the number of a sensor (64 bit) and a value (double). Latencies are in milliseconds, measured by the client.'
      ],
      blocks: [databasesTable(found, done), ...done.length > 0 ? [parametersTable(done)] : []]
    },
    batching(found),
    concurrency(found),
    ...scaling(found),
    queries(found)
  ]
}

/** @param {Found} found @param {DoneCell[]} done @returns {import('../study.js').TableBlock} */
function databasesTable ({ databases, whyNot }, done) {
  return {
    kind: 'table',
    caption: 'Databases',
    columns: [{ title: 'Version' }, { title: 'Index' }],
    rows: databases.map(database => {
      const version = done.find(({ parameters }) => parameters.database === database)?.version
      return {
        label: DATABASES[database].name,
        figures: [
          { value: version ?? null, published: VERSIONS[database], ...!version && { reason: whyNot(database, 'batching') } },
          { value: DATABASES[database].index }
        ]
      }
    }),
    notes: SCALING_NOTES
  }
}

/** @param {DoneCell[]} done @returns {import('../study.js').TableBlock} */
function parametersTable (done) {
  const databases = [...new Set(done.map(({ parameters }) => String(parameters.database)))]
  /** @type {Record<string, string|number>} */
  const here = { ...settingsOf(done), TargetDatabase: databases.map(each => DATABASES[each].scits).join(', ') }
  const of = (/** @type {string} */ workload) => done.find(({ parameters }) => parameters.workload === workload)?.parameters
  const [batches, runs] = [of('batching')?.batches, of('query')?.runs]
  if (batches && runs) here.TestRetries = `${batches} batches, ${runs} runs`
  return {
    kind: 'table',
    caption: 'Table 1: parameters of the workloads',
    columns: [{ title: 'Here' }, { title: 'Description' }, { title: 'Workload' }],
    rows: PARAMETERS.map(({ name, description, workload }) => ({
      label: name,
      figures: [{ value: textOf(here[name], name) }, { value: description }, { value: workload }]
    })),
    notes: ['scits-….config beside this report has them as a configuration of SciTS, for each database.']
  }
}

/** @param {string|number|undefined} value @param {string} name */
function textOf (value, name) {
  if (value !== undefined) return typeof value === 'string' ? value.replaceAll(/, */g, ', ') : String(value)
  return name === 'DurationMinutes' ? 'the paper\'s of each query' : 'chosen at random'
}
