import { say } from './sentences.js'

/** By which a sink's layout "upsert" tells newer rows from older ones: columns of its own. */
export const ORIGIN = 'sluice_origin'
export const EPOCH = 'sluice_epoch'
export const SEQ = 'sluice_seq'
export const UPSERT_COLUMNS = [ORIGIN, EPOCH, SEQ]

/** What is wrong with its key. @param {string[]} key */
export function keyProblem (key) {
  const own = key.find(name => UPSERT_COLUMNS.includes(name))
  if (key.length === 0) return say('noKey')
  if (own !== undefined) return say('ownKey', { column: own })
}
