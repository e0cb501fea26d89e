import { NANOSECONDS_PER, parseTime } from '../../batch/time.js'
import { MAX_TAGS } from '../bounds.js'
import { nameFault } from '../gatherer.js'
import { fault, shown } from './fault.js'
import { nameFilter } from './globs.js'
import { fieldNames, parsePath } from './paths.js'
import { SPECIAL, matchTopic, parsePattern } from './pattern.js'
import { presets } from './presets.js'

/**
 * A mapping as it is applied to messages.
 *
 * @typedef {import('../../batch/time.js').TimeUnit} TimeUnit
 * @typedef {import('./paths.js').Path} Path
 * @typedef {import('./presets.js').Mapping} Mapping
 * @typedef {import('../codecs/json-lessons.js').Shape} Shape
 *
 * @typedef {object} Plan
 * @property {string} filter  of MQTT
 * @property {(levels: string[]) => Record<string, string>|null} match  the levels of a topic by their names; null where it does not match
 * @property {(levels: Record<string, string>, topic: string) => string|undefined} sourceOf  undefined where the mapping says nothing
 * @property {string} otherwise  the source of what has none
 * @property {boolean} isPerTopic  each topic is a source: nothing of another is in its table
 * @property {{name: string, path: Path}[]} tags  of the JSON, without those that the topic has
 * @property {Path|null} time
 * @property {(value: unknown) => bigint} timeOf
 * @property {Path|null} values
 * @property {Path|null} rows
 * @property {string} prefix
 * @property {(name: string) => boolean} accepts  a field
 * @property {Set<string>} taken  names of fields that are tags or the time
 * @property {Shape[]} recent  of rows, see `json-shapes.js`
 */

/** No time of ISO 8601. */
const DIGITS = /^[\d.]+$/
const TIME_FORMATS = ['auto', 'iso', ...Object.keys(NANOSECONDS_PER)]

/**
 * @param {Mapping} mapping @param {TimeUnit} timeUnit  of times that are numbers
 * @returns {Plan}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_MAPPING
 */
export function planOf (mapping, timeUnit) {
  const whole = withPreset(mapping)
  const { topic = '', source = '', tags = [], time = '', timeFormat = 'auto', values = '', rows = '', prefix = '' } = whole
  const pattern = parsePattern(topic)
  const { names } = pattern
  if (!TIME_FORMATS.includes(timeFormat)) throw fault(`the time format ${shown(timeFormat)} is none`, `Choose ${TIME_FORMATS.join(', ')}.`)
  const own = tags.map(tagOf)
  checkTags(own, mapping.tags ?? [], names)
  const timePath = time === '' ? null : parsePath(time, 'the time')
  const valuesPath = values === '' ? null : parsePath(values, 'the values')
  return {
    filter: pattern.filter,
    match (levels) {
      const found = matchTopic(pattern, levels)
      return found && Object.fromEntries(found.map((value, i) => [names[i], value]))
    },
    sourceOf: sourceTemplate(source, names),
    otherwise: pattern.levels.find(({ text }) => text)?.text ?? 'mqtt',
    isPerTopic: source.includes('{topic}'),
    tags: own.filter(({ name }) => !names.includes(name)),
    time: timePath,
    timeOf: timeReader(timeFormat, timeUnit),
    values: valuesPath,
    rows: rows === '' ? null : parsePath(rows, 'the rows'),
    prefix,
    accepts: nameFilter(whole.include ?? [], whole.exclude ?? []),
    taken: new Set([...own.map(({ path }) => path), ...timePath ? [timePath] : []].flatMap(path => within(path, valuesPath))),
    recent: []
  }
}

/** What applies where no mapping matches. @param {TimeUnit} timeUnit @returns {Plan} */
export function defaultPlan (timeUnit) {
  return {
    ...planOf({ topic: '#' }, timeUnit),
    match: levels => ({ topic: levels.join('/') })
  }
}

/** @param {Mapping} mapping @returns {Mapping} */
function withPreset (mapping) {
  const { preset = '' } = mapping
  const defaults = presets.find(({ id }) => id === preset)
  if (preset !== '' && !defaults) throw fault(`the preset ${shown(preset)} is none`, `Choose ${presets.map(({ id }) => id).join(', ')}.`)
  const isGiven = (/** @type {[string, unknown]} */ [name, value]) =>
    value != null && value !== '' && !(Array.isArray(value) && value.length === 0) && !(name === 'timeFormat' && value === 'auto')
  return { ...defaults, ...Object.fromEntries(Object.entries(mapping).filter(isGiven)) }
}

/** @param {string} text  path, or name=path @returns {{name: string, path: Path}} */
function tagOf (text) {
  const at = text.indexOf('=')
  const path = parsePath(text.slice(at + 1).trim(), 'the tag')
  const name = at === -1 ? /** @type {string} */ (path.at(-1)) : text.slice(0, at).trim()
  const reason = nameFault(name)
  if (reason) throw fault(`the tag ${shown(text)} ${reason}`, 'Name it: device=path.to.it')
  return { name, path }
}

/** @param {{name: string}[]} tags @param {string[]} given  by the user @param {string[]} names  of the topic */
function checkTags (tags, given, names) {
  if (tags.length + names.length > MAX_TAGS) throw fault(`there are more than ${MAX_TAGS} tags`, 'Name fewer.')
  const all = tags.map(({ name }) => name)
  const twice = all.find((name, i) => all.indexOf(name) < i)
  if (twice !== undefined) throw fault(`two tags are called ${shown(twice)}`, 'Give one another name: name=path')
  const clash = given.length > 0 && all.find(name => names.includes(name) && !SPECIAL.includes(name))
  if (clash) throw fault(`the topic and a tag have the name ${shown(clash)}`, 'Give one of them another name, for example name=path.')
}

/** What a path is called in the object of the values; nothing where it is elsewhere. @param {Path} path @param {Path|null} values */
function within (path, values) {
  if (!values) return fieldNames(path)
  const isInside = path.length > values.length && values.every((name, i) => name === path[i])
  return isInside ? fieldNames(path.slice(values.length)) : []
}

/**
 * @param {string} template @param {string[]} names  of the topic
 * @returns {Plan['sourceOf']}
 */
function sourceTemplate (template, names) {
  if (template === '') return names.includes('source') ? levels => dotted(levels.source) : () => undefined
  const parts = template.split(/\{([^{}]*)\}/)
  const used = parts.filter((_, i) => i % 2 === 1)
  const unknown = used.find(name => name !== 'topic' && !names.includes(name))
  const isBroken = parts.some((part, i) => i % 2 === 0 && /[{}]/.test(part))
  if (isBroken) throw fault(`the source ${shown(template)} has a single brace`, 'Write {name}.')
  if (unknown !== undefined) {
    throw fault(`the source ${shown(template)} has {${unknown}}, which the topic has not`, 'Name levels of the topic.')
  }
  return (levels, topic) => parts.map((part, i) => i % 2 === 0 ? part : dotted(levels[part] ?? topic)).join('')
}

/** As a part of a source, levels of a topic have dots between. @param {string} levels */
function dotted (levels) {
  return levels.replaceAll('/', '.')
}

/** @param {string} format @param {TimeUnit} timeUnit @returns {Plan['timeOf']} */
function timeReader (format, timeUnit) {
  if (format === 'iso') return value => parseTime(typeof value === 'number' || DIGITS.test(String(value)) ? NaN : value)
  const unit = format === 'auto' ? timeUnit : /** @type {TimeUnit} */ (format)
  return value => parseTime(value, unit)
}
