/**
 * The contract of a kind of alarm. All are in `kinds/index.js`, of which `docs/alarms.md` is made, too.
 *
 * @typedef {import('../stats/alarm.js').Level} Level
 * @typedef {import('../stats/alarm.js').Subject} Subject
 * @typedef {import('./snapshot.js').Snapshot} Snapshot
 * @typedef {import('../stats/phrases.js').Phrase} Phrase
 *
 * @typedef {object} Finding  that something is wrong now
 * @property {Subject} subject
 * @property {Level} level
 * @property {Phrase|((more: number) => Phrase)} what  of what is counted: by how much it has grown since it was raised
 * @property {Phrase} [reason]
 * @property {Phrase} fix
 * @property {number} [lastsMs]  how long it has been so already
 * @property {number} [count]  how often it has happened: where that grows, an alarm that was acknowledged is raised again
 *
 * @typedef {object} Kind
 * @property {string} when  in which it is raised, for the documentation
 * @property {Level} level  the worst that it may have
 * @property {number} raiseAfterMs  it has to hold for so long
 * @property {number} clearAfterMs  it has to be over for so long
 * @property {'process'|'life'} [event]  it is raised by its count alone, when that grows: one that begins at 0 with each process or
 *   deploy, or one that is kept for all the life of what it counts
 * @property {(count: number) => Phrase} several  what is said of very many of them
 * @property {(snapshot: Snapshot, lastingMs: (subject: Subject) => number|null) => Finding[]} read  `lastingMs`: how long it has been so
 *   by an alarm that was raised before the restart, and still is; null where there is none
 * @property {(snapshot: Snapshot, subject: Subject) => boolean} [knows]  after a restart: whether that nothing is found of what was wrong
 *   before says that it is over. Where a kind cannot say, it is over if it is not seen again for some time
 */

/**
 * Those of some places that an alarm is about.
 * @template {{name: string, nodeId?: string}} Place
 * @param {Place[]} places
 * @param {Subject} subject
 */
export function placesOf (places, { name, nodeId }) {
  return places.filter(place => nodeId === undefined ? place.name === name : place.nodeId === nodeId)
}

/** Whether a sink has stored something since the start, or refused it for good. @param {import('./snapshot.js').Sink} sink */
export function hasDone ({ meter }) { return meter !== undefined && meter.rows + meter.deadLetters > 0 }

/** @param {Pick<import('./snapshot.js').Place, 'name'|'nodeId'>} stage */
export const stageOf = ({ name, nodeId }) => ({ type: /** @type {const} */ ('stage'), name, nodeId })
