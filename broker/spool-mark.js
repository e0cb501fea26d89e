import { hash } from 'node:crypto'

/**
 * What the random part of each epoch's name begins with: it tells whose epoch it is, when no head names it any more. Two spools of one
 * gateway may stage one source.
 * @param {string} spool  its name
 */
export function spoolMark (spool) {
  return hash('sha256', spool).slice(0, 4)
}
