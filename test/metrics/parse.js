/**
 * A strict reader of Prometheus' text format 0.0.4, written from its description: it throws at whatever a scraper might not take.
 *
 * @typedef {{name: string, labels: Record<string, string>, value: number}} Sample
 * @typedef {{type: string, help: string, samples: Sample[]}} Family
 */

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`)
const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)$/
const TYPES = ['counter', 'gauge', 'histogram']

/** @param {string} text @returns {Map<string, Family>} */
export function parse (text) {
  /** @type {Map<string, Family>} */
  const families = new Map()
  const seen = new Set()
  let current = ''
  if (text !== '' && !text.endsWith('\n')) throw new Error('The last line has no end.')
  for (const line of text.split('\n').slice(0, -1)) {
    const [, what, about = '', rest = ''] = new RegExp(`^# (HELP|TYPE) (${NAME}) (.*)$`).exec(line) ?? []
    if (what === 'HELP') {
      if (families.has(about)) throw new Error(`${about} comes twice.`)
      if (/\\[^\\n]/.test(rest.replaceAll('\\\\', ''))) throw new Error(`An escape in ${line}`)
      families.set(current = about, { type: '', help: unescape(rest), samples: [] })
    } else if (what === 'TYPE') {
      const family = families.get(about)
      if (about !== current || !family || family.type || family.samples.length > 0) throw new Error(`Out of place: ${line}`)
      if (!TYPES.includes(rest)) throw new Error(`No type: ${line}`)
      family.type = rest
    } else {
      const sample = readSample(line)
      const family = families.get(current)
      const suffixes = family?.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (!family || !suffixes.some(suffix => sample.name === current + suffix)) throw new Error(`Not of ${current}: ${line}`)
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
      if (seen.has(key)) throw new Error(`Twice: ${line}`)
      seen.add(key)
      family.samples.push(sample)
    }
  }
  for (const [name, family] of families) check(name, family)
  return families
}

/** @param {string} line @returns {Sample} */
function readSample (line) {
  const [, name, inner, number] = SAMPLE.exec(line) ?? []
  if (name === undefined || !NUMBER.test(number)) throw new Error(`No sample: ${line}`)
  /** @type {Record<string, string>} */
  const labels = {}
  let at = 0
  while (inner !== undefined && at < inner.length) {
    LABEL.lastIndex = at
    const [whole, label, value] = LABEL.exec(inner) ?? []
    if (whole === undefined || label in labels) throw new Error(`No label at ${at}: ${line}`)
    labels[label] = unescape(value)
    at += whole.length
  }
  return { name, labels, value: Number(number.replace('Inf', 'Infinity')) }
}

/** @param {string} text */
function unescape (text) {
  return text.replace(/\\(.)/g, (_, character) => character === 'n' ? '\n' : character)
}

/** @param {string} name @param {Family} family */
function check (name, { type, help, samples }) {
  if (!type || !help || samples.length === 0) throw new Error(`${name} has no type, no help, or no sample.`)
  if ((type === 'counter') !== name.endsWith('_total')) throw new Error(`${name} is a ${type}.`)
  if (type === 'counter' && samples.some(({ value }) => value < 0)) throw new Error(`${name} is negative.`)
  if (type === 'histogram') checkHistogram(name, samples)
}

/** @param {string} name @param {Sample[]} samples */
function checkHistogram (name, samples) {
  const bySubject = Map.groupBy(samples, ({ labels: { le: _le, ...labels } }) => JSON.stringify(labels))
  for (const [subject, its] of bySubject) {
    const buckets = its.filter(sample => sample.name === `${name}_bucket`)
    const counts = buckets.map(({ value }) => value)
    const bounds = buckets.map(({ labels: { le } }) => Number(le.replace('Inf', 'Infinity')))
    const isRising = (/** @type {number[]} */ numbers) => numbers.every((number, i) => i === 0 || number >= numbers[i - 1])
    const [total, ...others] = its.filter(sample => sample.name === `${name}_count`)
    const [sum] = its.filter(sample => sample.name === `${name}_sum`)
    const isWhole = bounds.at(-1) === Infinity && sum && total && others.length === 0 && counts.at(-1) === total.value
    if (!isWhole || !isRising(bounds) || !isRising(counts)) {
      throw new Error(`${name} of ${subject} is no histogram.`)
    }
  }
}
