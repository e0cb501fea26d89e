import { identityKey } from '../../gateway/batch/batch.js'
import { SluiceError } from '../../gateway/base/errors.js'

/** Another gateway runs under the id of this one, on a broker that lets both in. @param {string} gateway @returns {string} */
export function anotherOf (gateway) {
  return `Another gateway has the id of this one, "${gateway}", on its broker. Give each its own: delete sluice/gateway-id in the data ` +
    'folder that is a copy, and start it again.'
}

/**
 * Somebody else's batch is stored under an identity.
 * @param {string} sink  its label
 * @param {import('../../gateway/batch/batch.js').Identity} identity
 */
export function clashOf (sink, identity) {
  return new SluiceError('SLUICE_CLASH', `Sink "${sink}" has another batch than the one that came as ${identityKey(identity)}.`, {
    fix: 'The spool stages it again. Find out who else writes in the name of this gateway.'
  })
}
