import { CLASS, LINE, readHead, valueOf } from '../../messages/codecs/warp10/decode.js'

/**
 * @typedef {{name: string, labels: Record<string, string>}} Series  its class and labels, without those that tokens add
 * @typedef {object} Point
 * @property {bigint} tick
 * @property {bigint} ns  its time, with what the label `ns` adds to the tick
 * @property {Series} series
 * @property {import('../../messages/codecs/warp10/decode.js').Value} value
 */

/**
 * Reads the lines of one answer, in their order: a line may continue the one before.
 * @param {bigint} unitNs  of ticks
 * @returns {(line: string) => Point}
 */
export function pointReader (unitNs) {
  /** @type {Series|null} */
  let series = null
  let beyondNs = 0n
  return line => {
    const [, continues, place, rest] = LINE.exec(line) ?? []
    if (place === undefined) throw new Error(`the answer has a line that cannot be read: ${line.slice(0, 100)}`)
    let text = rest
    if (!continues) {
      const parts = CLASS.exec(rest)
      if (!parts) throw new Error(`the answer has a line without a class: ${line.slice(0, 100)}`)
      series = seriesOf(parts[1])
      beyondNs = BigInt(series.labels.ns ?? 0)
      text = parts[2]
    }
    const tick = BigInt(place.slice(0, place.indexOf('/')))
    return { tick, ns: tick * unitNs + beyondNs, series: /** @type {Series} */ (series), value: valueOf(text) }
  }
}

/** @param {string} head  `CLASS{LABELS}` @returns {Series} */
export function seriesOf (head) {
  const { name, labels } = readHead(head)
  return { name, labels: Object.fromEntries(labels.filter(([label]) => !label.startsWith('.'))) }
}
