import { fault, shown } from './fault.js'

/**
 * Where a member of a JSON object is: names with dots between, numbers for the elements of arrays. `uplink_message.rx_metadata.0.rssi`
 *
 * @typedef {string[]} Path
 */

/** @param {string} text @param {string} what  it is for @returns {Path} @throws SLUICE_MAPPING */
export function parsePath (text, what) {
  const path = text.split('.')
  if (path.includes('')) throw fault(`${what} ${shown(text)} is no path`, 'Write names with dots between: device.id')
  return path
}

/** What is there; undefined where nothing is. @param {any} value @param {Path} path @returns {unknown} */
export function valueAt (value, path) {
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** What fields that are made of it are called: elements of an array have no dot before their number. @param {Path} path */
export function fieldNames (path) {
  const last = /** @type {string} */ (path.at(-1))
  return [path.join('.'), ...path.length > 1 && /^\d+$/.test(last) ? [`${path.slice(0, -1).join('.')}${last}`] : []]
}
