import { SluiceError } from '../../../base/errors.js'
import { DATABASES } from './databases.js'
import { QUERIES } from './queries.js'

/**
 * The configuration files of SciTS, as it has published them: an App.config of .NET with `<add key="…" value="…" />` in `appSettings`.
 */

const FIX = 'Write <configuration><appSettings><add key="TestRetries" value="20" /> … </appSettings></configuration>, as in SciTS.'

/**
 * What a configuration sets, by the name that a sweep has for it.
 * @type {Record<string, {name: string, read: (value: string, key: string) => any}>}
 */
const USED = {
  TargetDatabase: { name: 'databases', read: (value, key) => [databaseNamed(value, key)] },
  DaySpan: { name: 'daySpan', read: whole },
  StartTime: { name: 'startTime', read: startTime },
  BatchSizeOptions: { name: 'batchSizes', read: wholes },
  ClientNumberOptions: { name: 'writers', read: wholes },
  SensorNumber: { name: 'sensors', read: (value, key) => [whole(value, key)] },
  QueryType: { name: 'queryType', read: queryTypes },
  TestRetries: { name: 'repetitions', read: whole },
  DurationMinutes: { name: 'durationMinutes', read: whole },
  AggregationIntervalHour: { name: 'aggregationIntervalHour', read: whole },
  SensorsFilter: { name: 'sensorsFilter', read: (value, key) => wholes(value, key, 0).join(',') },
  SensorID: { name: 'sensorId', read: (value, key) => whole(value, key, 0) },
  FirstSensorID: { name: 'firstSensorId', read: (value, key) => whole(value, key, 0) },
  SecondSensorID: { name: 'secondSensorId', read: (value, key) => whole(value, key, 0) },
  MinValue: { name: 'minValue', read: number },
  MaxValue: { name: 'maxValue', read: number }
}

/**
 * What a configuration chooses, as a sweep. What of it means nothing here, such as connections, is left out; `unused` has the keys.
 * @param {string} text
 * @returns {Record<string, any>}
 * @throws {SluiceError} SLUICE_BENCH_CONFIG
 */
export function sweepOf (text) {
  const settings = readSettings(text)
  const used = [...settings].filter(([key]) => Object.hasOwn(USED, key)).map(([key, value]) => [USED[key].name, USED[key].read(value, key)])
  const unused = [...settings.keys()].filter(key => !Object.hasOwn(USED, key))
  return { ...Object.fromEntries(used), ...unused.length > 0 && { unused } }
}

/** The configuration that chooses the same. @param {Record<string, string|number>} settings  by key @returns {string} */
export function configText (settings) {
  const lines = Object.entries(settings).map(([key, value]) => `    <add key="${escaped(key)}" value="${escaped(String(value))}" />\n`)
  return `<?xml version="1.0" encoding="utf-8"?>\n<configuration>\n  <appSettings>\n${lines.join('')}  </appSettings>\n</configuration>\n`
}

/**
 * The settings of an App.config, by key. It has nothing else.
 * @param {string} text
 * @returns {Map<string, string>}
 * @throws {SluiceError} SLUICE_BENCH_CONFIG with the line
 */
export function readSettings (text) {
  const source = text.replace(/^\uFEFF/, '')
  /** @type {Map<string, string>} */
  const settings = new Map()
  const refuse = (/** @type {number} */ at, /** @type {string} */ what) => {
    const line = source.slice(0, at).split('\n').length
    return new SluiceError('SLUICE_BENCH_CONFIG', `Line ${line} of the configuration: ${what}.`, { fix: FIX })
  }
  const opens = ['<configuration>', '<appSettings>']
  const closes = ['</appSettings>', '</configuration>']
  const waiting = [...opens]
  let at = 0
  const token = /\s+|<!--[^]*?-->|<\?xml\b[^]*?\?>|<add((?:\s+\w+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/>|<\/?\w+\s*>/y
  while (at < source.length) {
    token.lastIndex = at
    const found = token.exec(source)
    // Not all of it: a value may be a password.
    if (!found) throw refuse(at, `"${/^\S{1,12}/.exec(source.slice(at))?.[0]} …" is not expected`)
    const [all, attributes] = found
    if (attributes !== undefined) {
      if (waiting[0] !== closes[0]) throw refuse(at, 'a setting is not in <appSettings>')
      const setting = settingIn(attributes)
      if (!setting) throw refuse(at, 'an <add> has not one key and one value')
      if (settings.has(setting.key)) throw refuse(at, `"${setting.key}" is set twice`)
      settings.set(setting.key, setting.value)
    } else if (/^<\/?\w/.test(all)) {
      const name = all.replace(/\s/g, '')
      if (name !== waiting.shift()) throw refuse(at, `${name} is not expected`)
      if (waiting.length === 0 && name === opens[1]) waiting.push(...closes)
    }
    at += all.length
  }
  if (waiting.length > 0) throw refuse(source.length, `it ends without ${waiting[0]}`)
  return settings
}

/** @param {string} attributes @returns {{key: string, value: string}|null} */
function settingIn (attributes) {
  const found = [...attributes.matchAll(/(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)]
  const { key, value } = Object.fromEntries(found.map(([, name, double, single]) => [name, unescaped(double ?? single)]))
  return found.length === 2 && key !== undefined && value !== undefined ? { key, value } : null
}

/** @type {Record<string, string>} */
const ENTITIES = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', '\'': 'apos' }

/** @param {string} text */
function escaped (text) { return text.replace(/[&<>"']/g, character => `&${ENTITIES[character]};`) }

/** @param {string} text */
function unescaped (text) {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => Object.keys(ENTITIES).find(each => ENTITIES[each] === name) ?? '')
}

/** @param {string} key @param {string} value @param {string} wanted */
function wrong (key, value, wanted) {
  return new SluiceError('SLUICE_BENCH_CONFIG', `${key} of the configuration is "${value}".`, { fix: `Make it ${wanted}.` })
}

/** @param {string} value @param {string} key @param {number} [least] */
function whole (value, key, least = 1) {
  const text = value.trim()
  if (/^\d+$/.test(text) && Number(text) >= least && Number.isSafeInteger(Number(text))) return Number(text)
  throw wrong(key, value, `a whole number of at least ${least}`)
}

/** @param {string} value @param {string} key @param {number} [least] */
function wholes (value, key, least = 1) {
  const parts = value.split(',').filter(part => part.trim() !== '')
  if (parts.length === 0) throw wrong(key, value, 'whole numbers with commas between them')
  return parts.map(part => whole(part, key, least))
}

/** @param {string} value @param {string} key */
function number (value, key) {
  const found = Number(value.trim())
  if (value.trim() !== '' && Number.isFinite(found)) return found
  throw wrong(key, value, 'a number')
}

/** Without a zone it is UTC. @param {string} value @param {string} key */
function startTime (value, key) {
  const text = value.trim()
  const ms = Date.parse(/Z$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`)
  if (/^\d{4}-/.test(text) && !Number.isNaN(ms)) return new Date(ms).toISOString()
  throw wrong(key, value, 'a time such as 2022-01-01T00:00:00')
}

/** @param {string} value @param {string} key */
function databaseNamed (value, key) {
  const found = Object.keys(DATABASES).find(each => DATABASES[each].scits.toLowerCase() === value.trim().toLowerCase())
  if (found) return found
  throw wrong(key, value, `one of ${Object.values(DATABASES).map(({ scits }) => scits).join(', ')}`)
}

/** @param {string} value @param {string} key @returns {string[]} Q1 … Q5 */
function queryTypes (value, key) {
  const all = Object.keys(QUERIES)
  const text = value.trim()
  if (text.toLowerCase() === 'all') return all
  const found = all.find(id => [id, QUERIES[id].operation].some(name => name.toLowerCase() === text.toLowerCase()))
  if (found) return [found]
  throw wrong(key, value, `All, or one of ${all.map(id => `${id} (${QUERIES[id].operation})`).join(', ')}`)
}
