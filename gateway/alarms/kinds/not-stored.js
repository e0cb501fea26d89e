import { phrase } from '../../stats/phrases.js'
import { hasDone, placesOf, stageOf } from '../kind.js'
import { counted, lasting, short } from '../words.js'

/**
 * @typedef {import('../kind.js').Kind} Kind
 * @typedef {import('../kind.js').Finding} Finding
 * @typedef {import('../snapshot.js').Served} Served
 * @typedef {import('../snapshot.js').Snapshot} Snapshot
 * @typedef {import('../snapshot.js').Spool} Spool
 */

/** While a gateway starts, or a database is slow, nothing is stored for a while. */
const STALLED_MS = 120_000
/** What waits while nothing more comes may be stored already, in a database that takes long to say so. */
const WAITING_MS = 900_000

/** @type {Omit<Kind, 'several'>} */
export const notStored = {
  when: 'Rows have come into a spool for 2 min, and no sink has stored any, nor has one of another gateway said so; or one of ' +
    'the sinks that it waits for has not, while others have, also of what has waited for 15 min: a stage in is disabled, or leads to no ' +
    'sink that runs, or another gateway is away. Not raised beside an alarm that says why.',
  level: 'warning',
  knows: isStoringAgain,
  raiseAfterMs: 0,
  clearAfterMs: 10_000,
  read: (snapshot, lastingMs) => snapshot.spools.flatMap(spool => {
    const lastsMs = stallOf(spool.stalledMs, isStoring(spool) ? null : lastingMs(stageOf(spool)))
    if (lastsMs === null) return unserved(snapshot, spool, lastingMs)
    if (isExplained(snapshot, spool.required, spool.takers)) return []
    return [{
      subject: stageOf(spool),
      level: 'warning',
      what: phrase('not-stored', { name: short(spool.name), time: lasting(lastsMs / 1000) }),
      reason: whoDoesNot(spool),
      fix: phrase('not-stored.fix'),
      lastsMs
    }]
  })
}

/**
 * Whether something else that is raised says why nothing of a spool is stored: a database that is away, or has rows in hand and does not
 * answer, or refuses too much; a broker; a sink that could not start; a flow that does not pass on what it gets.
 * @param {Snapshot} snapshot
 * @param {string[]} required  the sinks in question
 * @param {import('../snapshot.js').Sink[]} takers  those of them that run here
 */
function isExplained ({ unconnected, failed, stageIns }, required, takers) {
  return unconnected.length > 0 || failed.some(({ nodeId }) => required.some(sink => sink === nodeId)) ||
    stageIns.some(({ gauge }) => Number(gauge.parkedRows) > 0) ||
    takers.some(({ gauge }) => {
      return gauge.connected === false || Number(gauge.pendingRows) > 0 || Boolean(gauge.stoppedSources) || Boolean(gauge.waitingFor)
    })
}

/** Something of what came since the start is stored, or there is nothing to store. @param {Spool} spool */
function isStoring ({ gauge: { confirmed, unstoredBytes }, takers }) {
  return Number(confirmed) > 0 || unstoredBytes === 0 || takers.some(hasDone)
}

/** Likewise for one sink. @param {Served} served */
function isServed ({ rows, sink, hasStored }) { return rows === 0 || hasStored || sink !== undefined && hasDone(sink) }

/** @param {Snapshot} snapshot @param {import('../../stats/alarm.js').Subject} subject */
function isStoringAgain ({ spools }, subject) {
  if (subject.type !== 'sink') return placesOf(spools, subject).some(isStoring)
  const its = placesOf(spools.flatMap(({ served }) => served), subject)
  return its.length > 0 && its.every(isServed)
}

/**
 * For how long nothing has been stored, where that is long.
 * @param {number} stalledMs  as this process knows
 * @param {number|null} beforeMs  since before it started
 * @param {number} longMs
 */
function stallOf (stalledMs, beforeMs, longMs = STALLED_MS) {
  return beforeMs === null && stalledMs < longMs ? null : Math.max(stalledMs, beforeMs ?? 0)
}

/**
 * The sinks that store nothing of a spool, while others do.
 * @param {Snapshot} snapshot
 * @param {Spool} spool
 * @param {Parameters<Kind['read']>[1]} lastingMs
 * @returns {Finding[]}
 */
function unserved (snapshot, spool, lastingMs) {
  return spool.served.flatMap(served => {
    const { name, nodeId, sink, rows } = served
    const subject = { type: /** @type {const} */ ('sink'), name, nodeId }
    const lastsMs = stallOf(served.stalledMs, isServed(served) ? null : lastingMs(subject), served.hasGrown ? STALLED_MS : WAITING_MS)
    const isAway = nodeId === undefined
    if (lastsMs === null || (isAway ? snapshot.unconnected.length > 0 : isExplained(snapshot, [nodeId], sink ? [sink] : []))) return []
    const why = isAway ? 'not-stored.sink.away' : sink ? 'not-stored.sink.unreached' : 'not-stored.sink.stopped'
    return [{
      subject,
      level: 'warning',
      what: phrase('not-stored.sink', {
        name: short(name), spool: short(spool.name), rows: counted(rows), count: rows, time: lasting(lastsMs / 1000)
      }),
      reason: phrase(why),
      fix: phrase(`${why}.fix`),
      lastsMs
    }]
  })
}

/** Who does not take what a spool has, as far as this gateway can know. @param {Spool} spool */
function whoDoesNot ({ required, takers }) {
  if (required.length === 0) return phrase('not-stored.nobody')
  const others = required.length - takers.length
  const here = takers.length > 0 ? phrase('not-stored.here', { names: takers.map(({ name }) => name) }) : ''
  const away = others > 0 ? phrase('not-stored.away', { sinks: counted(others, 'sinks') }) : ''
  return phrase('not-stored.reason', { here, away })
}
