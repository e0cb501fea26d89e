import { SluiceError } from '../base/errors.js'
import { COMMITS_TABLE } from './names.js'

/** Commit records of version 0.1 cannot be verified, nor continued. @param {string} place  the database */
export function oldRecords (place) {
  return new SluiceError('SLUICE_SINK_RECORDS_OLD', `${place}: the table ${COMMITS_TABLE} was made by Sluice 0.1.`, {
    fix: 'Once 0.1 has stored what its spools hold, drop this table; or set another database.'
  })
}
