import { bitsAt, derive, stateAt } from '../../base/random.js'

/**
 * What devices send: the same bytes for the same seed, whoever makes them.
 *
 * @typedef {object} Shape  of messages
 * @property {'lines'|'json'} format  InfluxDB line protocol, or JSON
 * @property {number} rowsPerMessage  all of one device
 * @property {number} devices  in turns
 *
 * @typedef {object} Load
 * @property {Shape} shape
 * @property {number} messages
 * @property {boolean} isWarmUp  its rows have numbers of their own: below -1, counted downwards
 */

/** Values in a row, its number among them. */
export const VALUES = 5
/** The device is in the topic; in line protocol it is a tag of the line as well. */
export const TOPICS = 'bench/+'

const SEED = 20_261_122
const START_MS = 1_750_000_000_000

/** What the columns hold, in texts that are made once: 1024 values each. */
const COLUMNS = Object.entries({ temperature: [20, 0.01, 2], pressure: [1000, 0.05, 2], speed: [2, 0.003, 3], current: [0.5, 0.001, 3] })
  .map(([name, [from, step, digits]]) => ({ name, texts: Array.from({ length: 1024 }, (_, i) => (from + step * i).toFixed(digits)) }))
const STATES = COLUMNS.map((_, column) => stateAt(derive(SEED, column), 0))

/**
 * One row that shows whether anyone listens.
 * @param {Shape} shape
 */
export const probe = shape => ({ topic: topicOf(0), payload: payloadOf(shape, 0, [-1]) })

/** @param {Load} load @param {number} index */
export function messageAt ({ shape, isWarmUp }, index) {
  const { rowsPerMessage, devices } = shape
  const numbers = Array.from({ length: rowsPerMessage }, (_, i) => index * rowsPerMessage + i)
  const device = index % devices
  return { topic: topicOf(device), payload: payloadOf(shape, device, isWarmUp ? numbers.map(number => -2 - number) : numbers) }
}

/** @param {number} device */
const nameOf = device => `d${String(device).padStart(4, '0')}`
/** @param {number} device */
const topicOf = device => `bench/${nameOf(device)}`

/** @param {Shape} shape @param {number} device @param {number[]} numbers  of the rows */
function payloadOf ({ format }, device, numbers) {
  if (format === 'lines') return numbers.map(number => lineOf(nameOf(device), number)).join('')
  return numbers.length === 1 ? objectOf(numbers[0]) : `[${numbers.map(objectOf).join()}]`
}

/** @param {string} device @param {number} number */
function lineOf (device, number) {
  let line = `bench,device=${device} n=${number}i`
  for (let i = 0; i < COLUMNS.length; i++) line += `,${COLUMNS[i].name}=${textAt(i, number)}`
  return `${line} ${START_MS + number}000000\n`
}

/** @param {number} number */
function objectOf (number) {
  let object = `{"time":${START_MS + number},"n":${number}`
  for (let i = 0; i < COLUMNS.length; i++) object += `,"${COLUMNS[i].name}":${textAt(i, number)}`
  return `${object}}`
}

/** @param {number} column @param {number} number */
function textAt (column, number) {
  return COLUMNS[column].texts[bitsAt(STATES[column], number) & 1023]
}
