import { BOUNDS_SECONDS } from './kinds.js'

/** @typedef {import('./families.js').Family} Family */

/** Prometheus' text format, which all that scrapes understands. */
export const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** @param {Family[]} families */
export function textOf (families) {
  /** The labels of one subject, which many metrics have, are written once. @type {Map<object, string>} */
  const texts = new Map()
  const labelsText = (/** @type {Record<string, string>} */ labels) => {
    let text = texts.get(labels)
    if (text === undefined) texts.set(labels, text = textOfLabels(labels))
    return text
  }
  return families.map(({ name, type, help, samples }) => {
    const lines = samples.map(({ labels, value }) => {
      const text = labelsText(labels)
      return typeof value === 'number' ? `${name}${braced(text)} ${value}\n` : textOfHistogram(name, text, value)
    })
    return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`
  }).join('')
}

/** @param {string} name @param {string} labels @param {import('./kinds.js').Distribution} distribution  in microseconds */
function textOfHistogram (name, labels, { counts, sum, total }) {
  const bucket = (/** @type {string|number} */ bound, /** @type {number} */ count) => {
    return `${name}_bucket{${labels}${labels && ','}le="${bound}"} ${count}\n`
  }
  const buckets = BOUNDS_SECONDS.map((bound, i) => bucket(bound, counts[i])).join('')
  return `${buckets}${bucket('+Inf', total)}${name}_sum${braced(labels)} ${sum / 1e6}\n${name}_count${braced(labels)} ${total}\n`
}

/** @param {Record<string, string>} labels */
function textOfLabels (labels) {
  return Object.entries(labels).map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`).join(',')
}

/** @param {string} labels */
function braced (labels) {
  return labels && `{${labels}}`
}

/** @param {string} text */
function escaped (text) {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
