import { quantity } from '../../stats/format.js'
import { titleOf } from './index.js'

/**
 * @typedef {import('../sections.js').Table} Table
 * @typedef {import('./index.js').Comparison} Comparison
 * @typedef {import('./index.js').Cell} Cell
 * @typedef {import('./index.js').KillCell} KillCell
 */

/** Of Telegraf's processor time a value, by the rows in a message. @type {Record<number, number>} */
const GOAL_PROCESSOR_TIME = { 1: 0.9, 100: 0.7, 1000: 0.5 }
const GOAL_NATIVE_MICROSECONDS = 0.15

/** @param {Comparison|{missing: string}} result @returns {Table} */
export function telegrafTable (result) {
  if ('missing' in result) return [['Telegraf', 'not measured', result.missing, null]]
  const { version, idleMegabytes, native, cells, kills } = result
  const { cpuMicrosecondsPerValue: microseconds, valuesPerSecond } = native
  return [
    ['Telegraf', version, '', null],
    ['an idle Node-RED', `${idleMegabytes.toFixed(0)} MB`, '', null],
    ['Arrow batches of 1000 rows from another gateway', `${quantity(valuesPerSecond)} values/s`, '', null],
    ['  processor time', `${microseconds.toFixed(3)} µs/value`, `≤ ${GOAL_NATIVE_MICROSECONDS}`, microseconds <= GOAL_NATIVE_MICROSECONDS],
    ...cells.flatMap(cell => cellRows(cell, idleMegabytes)),
    ...kills.flatMap(killRows)
  ]
}

/** @param {Cell} cell @param {number} idleMegabytes @returns {Table} */
function cellRows (cell, idleMegabytes) {
  const { shape, messages, telegraf, sluice, bare } = cell
  /** @type {Table} */
  const figures = [
    [titleOf(cell), '', '', null],
    ['  Telegraf', measuredText(telegraf), '', null],
    ['  Sluice', measuredText(sluice), '', null],
    ['  MQTT.js, which acknowledges and forgets', rates(bare), '', null]
  ]
  if ('problem' in sluice || 'problem' in telegraf) return figures
  /** @type {Table} */
  const unfinished = Object.entries({ Telegraf: telegraf, Sluice: sluice }).filter(([, { isAll }]) => !isAll)
    .map(([name, { rows }]) => [`  rows ${name} has stored in its time`, `${rows} of ${messages * shape.rowsPerMessage}`, 'all', false])
  const time = sluice.microsecondsPerValue / telegraf.microsecondsPerValue
  const mostTime = GOAL_PROCESSOR_TIME[shape.rowsPerMessage]
  const rate = sluice.rowsPerSecond / telegraf.rowsPerSecond
  const memory = sluice.peakMegabytes - idleMegabytes
  const mostMemory = telegraf.peakMegabytes
  return [
    ...figures,
    ...unfinished,
    ['  processor time, times Telegraf\'s', time.toFixed(2), `≤ ${mostTime}`, time <= mostTime],
    ['  rate, times Telegraf\'s', rate.toFixed(2), '≥ 1', rate >= 1],
    ['  memory above an idle Node-RED', `${memory.toFixed(0)} MB`, `≤ ${mostMemory.toFixed(0)}`, memory <= mostMemory]
  ]
}

/** @param {Cell['sluice']} measured */
function measuredText (measured) {
  if ('problem' in measured) return `failed: ${measured.problem.split('\n')[0]}`
  return `${rates(measured)}, ${measured.peakMegabytes.toFixed(0)} MB`
}

/** @param {{rowsPerSecond: number, microsecondsPerValue: number}} measured */
function rates ({ rowsPerSecond, microsecondsPerValue }) {
  return `${quantity(rowsPerSecond)} rows/s, ${microsecondsPerValue.toFixed(2)} µs/value`
}

/** @param {KillCell} cell @returns {Table} */
function killRows (cell) {
  const { telegraf, sluice } = cell
  const kept = 'problem' in sluice ? false : sluice.lost === 0 && sluice.doubled === 0
  return [
    [`${titleOf(cell)}, killed in mid-run`, '', '', null],
    ['  Telegraf', killedText(telegraf), '', null],
    ['  Sluice', killedText(sluice), 'none lost, none doubled', kept]
  ]
}

/** @param {KillCell['sluice']} killed */
function killedText (killed) {
  if ('problem' in killed) return `failed: ${killed.problem.split('\n')[0]}`
  const { kills, published, lost, doubled } = killed
  return `${published} rows, ${kills} kills: ${lost} lost, ${doubled} doubled`
}
