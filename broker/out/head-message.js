import { MAX_CONTROL_BYTES, MAX_CONTROL_EPOCHS, MAX_CONTROL_RANGES, MAX_CONTROL_SOURCES } from '../control-messages.js'

/** @typedef {import('../spool/head.js').SourceHead} SourceHead */

/** For what is beside the sources. */
const ENVELOPE_BYTES = 64
/** Epochs, and ranges of each, that are said of a source: fewer of the first where it would not fit. */
const BOUNDS = [[MAX_CONTROL_EPOCHS, MAX_CONTROL_RANGES], [8, 100], [2, 10]]

/**
 * A head as the broker gets it. What is beyond its bounds has its turn when what is older is stored: the sources that hold the oldest come
 * first, and of each its newest epoch is always in it. `more`: it is not all that the spool holds.
 * @param {{sources: SourceHead[]}} head  oldest first
 * @param {number} [maxBytes]
 * @returns {string}
 */
export function headMessage ({ sources }, maxBytes = MAX_CONTROL_BYTES) {
  /** @type {string[]} */
  const said = []
  let room = maxBytes - ENVELOPE_BYTES
  let isAll = sources.length <= MAX_CONTROL_SOURCES
  for (const source of sources) {
    if (said.length === MAX_CONTROL_SOURCES) break
    const bounds = said.length === 0 ? BOUNDS : BOUNDS.slice(0, 1)
    const texts = bounds.map(([epochs, ranges]) => JSON.stringify(sourceMessage(source, epochs, ranges)))
    const fitting = texts.find(text => Buffer.byteLength(text) < room)
    isAll &&= fitting === texts[0] && source.epochs.length <= MAX_CONTROL_EPOCHS
    if (fitting === undefined) continue
    said.push(fitting)
    room -= Buffer.byteLength(fitting) + 1
  }
  const rows = sources.reduce((sum, source) => sum + source.rows, 0)
  return `{"rows":${rows},"sources":[${said.join()}]${isAll ? '' : ',"more":true'}}`
}

/** @param {SourceHead} source @param {number} maxEpochs @param {number} maxRanges */
function sourceMessage ({ source, rows, lost, dropped, replaced, epochs }, maxEpochs, maxRanges) {
  const bounded = [...epochs.slice(0, -1).slice(0, maxEpochs - 1), ...epochs.slice(-1)]
  return {
    source,
    rows,
    lostRows: lost + dropped,
    replacedRows: replaced,
    epochs: bounded.map(epoch => epochMessage(epoch, maxRanges))
  }
}

/** @param {import('../spool/head.js').EpochHead} epoch @param {number} maxRanges */
function epochMessage ({ epoch, first, last, before, rows, ...exceptions }, maxRanges) {
  const bounded = Object.entries(exceptions).map(([kind, ranges]) => [kind, ranges.slice(0, maxRanges)])
  const held = [epoch, first, Math.max(last, first - 1), before, rows]
  return bounded.length > 0 ? [...held, Object.fromEntries(bounded)] : held
}
