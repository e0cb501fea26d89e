import { measure } from '../../stats/format.js'
import { phrase } from '../../stats/phrases.js'
import { placesOf, stageOf } from '../kind.js'
import { counted, lasting, short } from '../words.js'
import { notStored } from './not-stored.js'

/**
 * @typedef {import('../kind.js').Kind} Kind
 * @typedef {import('../kind.js').Finding} Finding
 * @typedef {Pick<import('../snapshot.js').Place, 'name'|'nodeId'>} Named
 * @typedef {import('../snapshot.js').Place} Place
 * @typedef {import('../snapshot.js').Snapshot} Snapshot
 */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * What should never happen, by the key of the gauge that counts it. It may be over at once: it stays for an hour, to be seen.
 * @param {string} kind
 * @param {string} key
 * @param {{when: string, level: import('../kind.js').Level, of?: 'rows'|'batches'|'messages'}} about  `of`: what is counted
 * @returns {Omit<Kind, 'several'>}
 */
function happening (kind, key, { when, level, of }) {
  return {
    when,
    level,
    raiseAfterMs: 0,
    clearAfterMs: HOUR_MS,
    event: 'process',
    read: ({ spools, stageIns, kafkaIns }) => [...spools, ...stageIns, ...kafkaIns].map(place => ({
      subject: stageOf(place),
      level,
      what: more => phrase(kind, { name: short(place.name), ...of && { [of]: counted(more, of) } }),
      fix: phrase(`${kind}.fix`),
      count: Number(place.gauge[key] ?? 0)
    }))
  }
}

/** @param {Place} place @param {string} key  of the gauge @param {string} said  the key of what is said @returns {Finding} */
function lossOf (place, key, said) {
  return {
    subject: stageOf(place),
    level: 'problem',
    what: more => phrase(said, { name: short(place.name), rows: counted(more), count: more }),
    fix: phrase(`${said}.fix`),
    count: Number(place.gauge[key] ?? 0)
  }
}

/**
 * Rows that stages have refused: a stage out says how many, of all its sources; a stage in counts them as its own.
 * @param {Snapshot} snapshot
 * @returns {{stage: Named, rows: number}[]}
 */
function refusedBy ({ spools, ownMeters }) {
  const told = spools.filter(({ gauge }) => gauge.refusedRows !== undefined)
  const others = ownMeters.filter(({ nodeId }) => !told.some(spool => spool.nodeId === nodeId))
  return [
    ...told.map(stage => ({ stage, rows: Number(stage.gauge.refusedRows) })),
    ...others.map(stage => ({ stage, rows: stage.meter.dropped }))
  ]
}

/** @type {Record<string, Omit<Kind, 'several'>>} */
export const stagingKinds = {
  'broker-unreachable': {
    when: 'A broker is not reached, or refuses the gateway: one alarm for all nodes that use it.',
    level: 'problem',
    knows: ({ connected }, { name }) => connected.has(name),
    raiseAfterMs: 10_000,
    clearAfterMs: 10_000,
    read: ({ unconnected, spoolFullInSeconds }) => unconnected.map(({ broker, problem, nodes }) => {
      const refused = /SLUICE_BROKER_(AUTH|CLIENT_ID|TLS|PROTOCOL|BUSY|TAKEN_OVER)/.test(problem)
      const said = refused ? 'broker-unreachable.refused' : 'broker-unreachable'
      const name = short(broker)
      return {
        subject: { type: 'broker', name: broker },
        level: 'problem',
        what: typeof spoolFullInSeconds === 'number'
          ? phrase(`${said}.filling`, { name, time: lasting(spoolFullInSeconds) })
          : phrase(said, { name }),
        reason: phrase(problem ? 'broker-unreachable.reason' : 'broker-unreachable.users', { problem, nodes }),
        fix: phrase(`${said}.fix`)
      }
    })
  },
  spool: {
    when: 'A spool is filled over its limit (80 %); a problem once it accepts nothing.',
    level: 'problem',
    knows: ({ spools }, subject) => placesOf(spools, subject).some(({ gauge }) => Number(gauge.accepted) > 0),
    raiseAfterMs: 5000,
    clearAfterMs: 10_000,
    read: ({ spools, limits }) => spools.flatMap(spool => {
      const { onDiskBytes, maxBytes, unstoredBytes, blocked } = spool.gauge
      const percent = Math.round(Number(onDiskBytes) / Number(maxBytes) * 100)
      if (!blocked && !(percent > limits.of('spool', spool.name))) return []
      const name = short(spool.name)
      const bytes = measure(Number(unstoredBytes), 'B')
      const filling = spool.fullInSeconds === null ? null : lasting(spool.fullInSeconds)
      return [{
        subject: stageOf(spool),
        level: blocked ? 'problem' : 'warning',
        what: blocked
          ? phrase(spool.gauge.isRefusing && spool.gauge.refusedRows !== undefined ? 'spool.refuses' : 'spool.waits', { name })
          : phrase(filling === null ? 'spool' : 'spool.filling', { name, percent, ...filling && { time: filling } }),
        reason: blocked ? phrase('spool.reason', { blocked: String(blocked), bytes }) : phrase('spool.to-store', { bytes }),
        fix: phrase('spool.fix')
      }]
    })
  },
  'not-stored': notStored,
  'rows-lost': {
    when: 'Rows are lost: by a damaged disk, or because a spool has no longer what a database has not got.',
    level: 'problem',
    raiseAfterMs: 0,
    clearAfterMs: DAY_MS,
    event: 'life',
    read: ({ spools, stageIns }) => [
      ...spools.map(spool => lossOf(spool, 'lostRows', 'rows-lost')),
      ...stageIns.map(stage => lossOf(stage, 'lostRows', 'rows-lost.gone'))
    ]
  },
  'records-lost': {
    when: 'Kafka has removed records before a Kafka in has read them, or a database has lost what Kafka no longer has.',
    level: 'problem',
    raiseAfterMs: 0,
    clearAfterMs: DAY_MS,
    event: 'process',
    read: ({ ownMeters }) => ownMeters.map(stage => ({
      subject: stageOf(stage),
      level: 'problem',
      what: more => phrase('records-lost', { name: short(stage.name), records: counted(more, 'records'), count: more }),
      fix: phrase('records-lost.fix'),
      count: stage.meter.lost
    }))
  },
  'rows-dropped': {
    when: 'A spool that is full, and told to drop the oldest, has dropped rows that some database has not stored.',
    level: 'problem',
    raiseAfterMs: 0,
    clearAfterMs: DAY_MS,
    event: 'life',
    read: ({ spools }) => spools.map(spool => lossOf(spool, 'droppedRows', 'rows-dropped'))
  },
  'messages-refused': {
    when: 'Messages, or values in them, that a stage out or stage in takes are not rows; a stage in keeps them as dead letters.',
    level: 'warning',
    raiseAfterMs: 0,
    clearAfterMs: HOUR_MS,
    event: 'process',
    read: ({ ownMeters }) => ownMeters.map(stage => ({
      subject: stageOf(stage),
      level: 'warning',
      what: more => phrase('messages-refused', { name: short(stage.name), refusals: counted(more, 'refusals') }),
      fix: phrase('messages-refused.fix'),
      count: stage.meter.errors
    }))
  },
  'rows-refused': {
    when: 'Rows that came to a stage are in no spool: it is full and what sends them does not wait, they are of more sources than it may ' +
      'have, or of one whose name cannot be used.',
    level: 'problem',
    raiseAfterMs: 0,
    clearAfterMs: DAY_MS,
    event: 'process',
    read: snapshot => refusedBy(snapshot).map(({ stage, rows }) => ({
      subject: stageOf(stage),
      level: 'problem',
      what: more => phrase('rows-refused', { name: short(stage.name), rows: counted(more) }),
      fix: phrase('rows-refused.fix'),
      count: rows
    }))
  },
  parked: {
    when: 'Rows went into a flow several times without reaching their sinks: they wait in the spool for the next deploy.',
    level: 'warning',
    knows: ({ stageIns }, subject) => placesOf(stageIns, subject).length > 0, // the start was a deploy
    raiseAfterMs: 5000,
    clearAfterMs: 10_000,
    read: ({ stageIns }) => stageIns.map(stage => ({ stage, count: Number(stage.gauge.parkedRows) })).filter(({ count }) => count > 0)
      .map(({ stage, count }) => ({
        subject: stageOf(stage),
        level: 'warning',
        what: phrase('parked', { name: short(stage.name), rows: counted(count), count }),
        fix: phrase('parked.fix')
      }))
  },
  'identity-clash': happening('identity-clash', 'clashes', {
    when: 'The identity of a gateway, or of a batch, is taken by another: two gateways have one id, or a spool was copied.',
    level: 'problem',
    of: 'messages'
  }),
  'set-back': happening('set-back', 'setBack', {
    when: 'A database has less than it had, as after a backup was played back; what the spool, or Kafka, still has is stored again.',
    level: 'warning'
  }),
  strangers: happening('strangers', 'strangers', {
    when: 'Messages come under the names of gateways or sinks that they are not from.',
    level: 'warning',
    of: 'messages'
  }),
  impossible: happening('impossible', 'impossible', {
    when: 'Messages of the staging make no sense.',
    level: 'warning',
    of: 'messages'
  }),
  'too-big': happening('too-big', 'tooBig', {
    when: 'Rows are larger than the broker passes on.',
    level: 'problem',
    of: 'rows'
  }),
  doubts: happening('doubts', 'doubts', {
    when: 'What a database has cannot be verified, so its rows stay in the spool.',
    level: 'warning'
  })
}
