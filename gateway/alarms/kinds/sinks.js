import { remaining } from '../../stats/format.js'
import { hasDone, placesOf } from '../kind.js'
import { counted, short } from '../words.js'

/**
 * @typedef {import('../kind.js').Kind} Kind
 * @typedef {import('../snapshot.js').Sink} Sink
 * @typedef {import('../snapshot.js').Snapshot} Snapshot
 */

/** Signs in the reason that a database could not even be asked. */
const AWAY = /SLUICE_SINK_CONNECT|\bE(CONN|TIMEDOUT|HOST|NET|NOTFOUND|AI_AGAIN|PIPE)/

const NEARLY_FULL_PERCENT = 80

/** @param {Sink} sink */
const subjectOf = ({ name, nodeId }) => ({ type: /** @type {const} */ ('sink'), name, nodeId })

/** Why nothing is stored; an empty reason while it is being opened. @param {Sink} sink @returns {string|null} null while all is well */
function trouble ({ gauge: { connected, problem, lastError } }) {
  return connected === false ? String(problem || lastError || '') : null
}

/** @param {Sink} sink */
function isAway (sink) {
  const reason = trouble(sink)
  return reason !== null && (reason === '' || AWAY.test(reason))
}

/** @type {(isKnown: (sink: Sink) => boolean) => NonNullable<Kind['knows']>} */
const ofSink = isKnown => ({ sinks }, subject) => placesOf(sinks, subject).some(isKnown)

/** What waits for the sink, and until when the spools have room. @param {Snapshot} snapshot @param {Sink} sink */
function waiting ({ rowsFor, spoolFullInSeconds }, sink) {
  const rows = rowsFor(sink)
  const when = typeof spoolFullInSeconds === 'number' ? ` in ${remaining(spoolFullInSeconds)}` : ''
  return `${counted(rows)} wait${rows === 1 ? 's' : ''}${spoolFullInSeconds === 'never' ? '' : `, the spool is full${when}`}`
}

/** @param {Sink} sink */
const sinceOf = ({ gauge: { retryingSinceMs } }) =>
  typeof retryingSinceMs === 'number' ? { lastsMs: Math.max(0, Date.now() - retryingSinceMs) } : {}

/** @type {Record<string, Kind>} */
export const sinkKinds = {
  'sink-unreachable': {
    when: 'The database of a sink is not reached.',
    level: 'problem',
    knows: ofSink(({ gauge }) => gauge.connected === true),
    raiseAfterMs: 10_000,
    clearAfterMs: 10_000,
    several: count => `${count} databases are not reachable`,
    read: snapshot => snapshot.sinks.filter(isAway).map(sink => ({
      subject: subjectOf(sink),
      level: 'problem',
      what: `${short(sink.name)} is not reachable: ${waiting(snapshot, sink)}`,
      reason: trouble(sink) ?? '',
      fix: 'Start the database, or correct its address; what is staged is stored once it is back.',
      ...sinceOf(sink)
    }))
  },
  'sink-refuses': {
    when: 'The database of a sink is reached and takes nothing of what is written.',
    level: 'problem',
    knows: ofSink(hasDone),
    raiseAfterMs: 15_000,
    clearAfterMs: 15_000,
    several: count => `${count} databases take nothing`,
    read: snapshot => snapshot.sinks.filter(sink => trouble(sink) !== null && !isAway(sink)).map(sink => ({
      subject: subjectOf(sink),
      level: 'problem',
      what: `${short(sink.name)} takes nothing: ${waiting(snapshot, sink)}`,
      reason: trouble(sink) ?? '',
      fix: 'Look at the reason: rights, the room on its disk, the form of its tables; sluice doctor looks at all of them.',
      ...sinceOf(sink)
    }))
  },
  'sink-waiting': {
    when: 'A sink has had rows for longer than its limit (120 s) without an answer of its database, as behind a lock.',
    level: 'warning',
    knows: ofSink(hasDone),
    raiseAfterMs: 5000,
    clearAfterMs: 15_000,
    several: count => `${count} databases do not answer to what is written`,
    read: ({ sinks, limits }, lastingMs) => sinks.flatMap(sink => {
      const subject = subjectOf(sink)
      const waitingMs = Number(sink.gauge.waitingMs ?? 0)
      const isStill = waitingMs > 0 && !hasDone(sink) // it has been since before this process started
      const seconds = Math.max(waitingMs, isStill && lastingMs(subject) || 0) / 1000
      if (trouble(sink) !== null || !(seconds > limits.of('waiting', sink.name))) return []
      return [{
        subject,
        level: 'warning',
        what: `${short(sink.name)} has not answered for ${remaining(seconds)}; ${counted(Number(sink.gauge.pendingRows ?? 0))} in hand`,
        fix: 'Look what the database does: a lock on the table, a backup, a disk that is too slow.',
        lastsMs: seconds * 1000
      }]
    })
  },
  'rows-unkept': {
    when: 'Rows that were not staged could neither be stored nor kept.',
    level: 'problem',
    raiseAfterMs: 0,
    clearAfterMs: 86_400_000,
    event: 'process',
    several: count => `${count} sinks have lost rows`,
    read: ({ sinks }) => sinks.map(sink => ({
      subject: subjectOf(sink),
      level: 'problem',
      what: more => `${short(sink.name)} could not store ${counted(more)}, and nothing keeps them`,
      fix: 'Put a stage out and a stage in before it: what is staged waits for its database.',
      count: sink.meter?.lost ?? 0
    }))
  },
  'retention-failing': {
    when: 'Rows that are older than a sink keeps them cannot be removed.',
    level: 'warning',
    raiseAfterMs: 0,
    clearAfterMs: 10_000,
    several: count => `${count} sinks cannot remove old rows`,
    read: ({ sinks }) => sinks.filter(({ gauge }) => gauge.retention).map(sink => ({
      subject: subjectOf(sink),
      level: 'warning',
      what: `Rows that are too old stay in ${short(sink.name)}`,
      reason: String(sink.gauge.retention),
      fix: 'Give the user the right to delete; else the database grows until its disk is full.'
    }))
  },
  'dead-letters': {
    when: 'A sink keeps rows that its database refused for good. When more come, one that was acknowledged is raised again.',
    level: 'warning',
    knows: ofSink(({ gauge }) => gauge.keptDeadLetters !== undefined),
    raiseAfterMs: 0,
    clearAfterMs: 10_000,
    several: count => `${count} databases have refused rows for good`,
    read: ({ sinks }) => sinks.filter(({ gauge }) => Number(gauge.keptDeadLetters) > 0).map(sink => ({
      subject: subjectOf(sink),
      level: 'warning',
      what: `${short(sink.name)} has refused ${counted(Number(sink.gauge.keptDeadLetters))}: they are kept as dead letters`,
      fix: 'See why with sluice dead-letters list, remove the cause, and replay them.',
      count: Number(sink.gauge.keptDeadLetters)
    }))
  },
  'dead-letters-full': {
    when: 'The dead letters of a sink take over 80 % of their room; a problem once they stop sources, or take all of it.',
    level: 'problem',
    knows: ofSink(({ gauge }) => gauge.keptDeadLetters !== undefined),
    raiseAfterMs: 0,
    clearAfterMs: 10_000,
    several: count => `${count} queues of dead letters are nearly full`,
    read: ({ sinks }) => sinks.flatMap(sink => {
      const percent = Number(sink.gauge.deadLettersPercent ?? 0)
      const stopped = String(sink.gauge.stoppedSources ?? '').split(', ').filter(Boolean)
      if (stopped.length === 0 && percent < NEARLY_FULL_PERCENT) return []
      const name = short(sink.name)
      return [{
        subject: subjectOf(sink),
        level: stopped.length > 0 || percent >= 100 ? 'problem' : 'warning',
        what: stopped.length > 0
          ? `${name} has too many dead letters: ${counted(stopped.length, 'source')} wait${stopped.length === 1 ? 's' : ''}`
          : `The dead letters of ${name} take ${percent} % of their room`,
        reason: stopped.join(', '),
        fix: 'Remove the cause and replay them: what follows from the same source waits.'
      }]
    })
  }
}
