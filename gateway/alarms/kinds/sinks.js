import { phrase } from '../../stats/phrases.js'
import { hasDone, placesOf } from '../kind.js'
import { counted, lasting, short } from '../words.js'

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
  if (typeof spoolFullInSeconds === 'number') return counted(rows, 'rows.wait.filling', { time: lasting(spoolFullInSeconds) })
  return counted(rows, spoolFullInSeconds === 'full' ? 'rows.wait.full' : 'rows.wait')
}

/** @param {Sink} sink */
const sinceOf = ({ gauge: { retryingSinceMs } }) =>
  typeof retryingSinceMs === 'number' ? { lastsMs: Math.max(0, Date.now() - retryingSinceMs) } : {}

/** @type {Record<string, Omit<Kind, 'several'>>} */
export const sinkKinds = {
  'sink-unreachable': {
    when: 'The database of a sink is not reached.',
    level: 'problem',
    knows: ofSink(sink => sink.gauge.connected === true && (sink.gauge.hasAnswered === true || hasDone(sink))),
    raiseAfterMs: 10_000,
    clearAfterMs: 10_000,
    read: snapshot => snapshot.sinks.filter(isAway).map(sink => ({
      subject: subjectOf(sink),
      level: 'problem',
      what: phrase('sink-unreachable', { name: short(sink.name), waiting: waiting(snapshot, sink) }),
      reason: trouble(sink) ?? '',
      fix: phrase('sink-unreachable.fix'),
      ...sinceOf(sink)
    }))
  },
  'sink-refuses': {
    when: 'The database of a sink is reached and takes nothing of what is written.',
    level: 'problem',
    knows: ofSink(hasDone),
    raiseAfterMs: 15_000,
    clearAfterMs: 15_000,
    read: snapshot => snapshot.sinks.filter(sink => trouble(sink) !== null && !isAway(sink)).map(sink => ({
      subject: subjectOf(sink),
      level: 'problem',
      what: phrase('sink-refuses', { name: short(sink.name), waiting: waiting(snapshot, sink) }),
      reason: trouble(sink) ?? '',
      fix: phrase('sink-refuses.fix'),
      ...sinceOf(sink)
    }))
  },
  'sink-waiting': {
    when: 'A sink has had rows for longer than its limit (120 s) without an answer of its database, as behind a lock.',
    level: 'warning',
    knows: ofSink(hasDone),
    raiseAfterMs: 5000,
    clearAfterMs: 15_000,
    read: ({ sinks, limits }, lastingMs) => sinks.flatMap(sink => {
      const subject = subjectOf(sink)
      const waitingMs = Number(sink.gauge.waitingMs ?? 0)
      const isStill = waitingMs > 0 && !hasDone(sink) // it has been since before this process started
      const seconds = Math.max(waitingMs, isStill && lastingMs(subject) || 0) / 1000
      if (trouble(sink) !== null || !(seconds > limits.of('waiting', sink.name))) return []
      return [{
        subject,
        level: 'warning',
        what: phrase('sink-waiting', {
          name: short(sink.name),
          time: lasting(seconds),
          rows: counted(Number(sink.gauge.pendingRows ?? 0))
        }),
        fix: phrase('sink-waiting.fix'),
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
    read: ({ sinks }) => sinks.map(sink => ({
      subject: subjectOf(sink),
      level: 'problem',
      what: more => phrase('rows-unkept', { name: short(sink.name), rows: counted(more) }),
      fix: phrase('rows-unkept.fix'),
      count: sink.meter?.lost ?? 0
    }))
  },
  'retention-failing': {
    when: 'Rows that are older than a sink keeps them cannot be removed.',
    level: 'warning',
    raiseAfterMs: 0,
    clearAfterMs: 10_000,
    read: ({ sinks }) => sinks.filter(({ gauge }) => gauge.retention).map(sink => ({
      subject: subjectOf(sink),
      level: 'warning',
      what: phrase('retention-failing', { name: short(sink.name) }),
      reason: String(sink.gauge.retention),
      fix: phrase('retention-failing.fix')
    }))
  },
  'dead-letters': {
    when: 'A sink keeps rows that its database refused for good. When more come, one that was acknowledged is raised again.',
    level: 'warning',
    knows: ofSink(({ gauge }) => gauge.keptDeadLetters !== undefined),
    raiseAfterMs: 0,
    clearAfterMs: 10_000,
    read: ({ sinks }) => sinks.map(sink => ({ sink, count: Number(sink.gauge.keptDeadLetters) })).filter(({ count }) => count > 0)
      .map(({ sink, count }) => ({
        subject: subjectOf(sink),
        level: 'warning',
        what: phrase('dead-letters', { name: short(sink.name), rows: counted(count), count }),
        fix: phrase('dead-letters.fix'),
        count
      }))
  },
  'dead-letters-full': {
    when: 'The dead letters of a sink take over 80 % of their room; a problem once they stop sources, or take all of it.',
    level: 'problem',
    knows: ofSink(({ gauge }) => gauge.keptDeadLetters !== undefined),
    raiseAfterMs: 0,
    clearAfterMs: 10_000,
    read: ({ sinks }) => sinks.flatMap(sink => {
      const percent = Number(sink.gauge.deadLettersPercent ?? 0)
      const stopped = String(sink.gauge.stoppedSources ?? '').split(', ').filter(Boolean)
      if (stopped.length === 0 && percent < NEARLY_FULL_PERCENT) return []
      const name = short(sink.name)
      return [{
        subject: subjectOf(sink),
        level: stopped.length > 0 || percent >= 100 ? 'problem' : 'warning',
        what: stopped.length > 0
          ? counted(stopped.length, 'dead-letters-full.stopped', { name })
          : phrase('dead-letters-full', { name, percent }),
        reason: stopped.join(', '),
        fix: phrase('dead-letters-full.fix')
      }]
    })
  }
}
