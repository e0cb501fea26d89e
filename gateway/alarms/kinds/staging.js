import { measure, remaining } from '../../stats/format.js'
import { placesOf, stageOf } from '../kind.js'
import { counted, short } from '../words.js'
import { notStored } from './not-stored.js'

/**
 * @typedef {import('../kind.js').Kind} Kind
 * @typedef {import('../kind.js').Finding} Finding
 * @typedef {Pick<import('../snapshot.js').Place, 'name'|'nodeId'>} Named
 * @typedef {import('../snapshot.js').Place} Place
 * @typedef {import('../snapshot.js').Snapshot} Snapshot
 * @typedef {import('../snapshot.js').Spool} Spool
 */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * What should never happen, by the key of the gauge that counts it. It may be over at once: it stays for an hour, to be seen.
 * @param {string} key
 * @param {{when: string, level: import('../kind.js').Level, what: (name: string, more: number) => string, fix: string,
 *   several: Kind['several']}} text
 * @returns {Kind}
 */
function happening (key, { when, level, what, fix, several }) {
  return {
    when,
    level,
    raiseAfterMs: 0,
    clearAfterMs: HOUR_MS,
    event: 'process',
    several,
    read: ({ spools, stageIns }) => [...spools, ...stageIns].map(place => ({
      subject: stageOf(place),
      level,
      what: more => what(short(place.name), more),
      fix,
      count: Number(place.gauge[key] ?? 0)
    }))
  }
}

/**
 * @param {Place} place
 * @param {string} key
 * @param {(name: string, more: number) => string} what
 * @param {string} fix
 * @returns {Finding}
 */
function lossOf (place, key, what, fix) {
  const count = Number(place.gauge[key] ?? 0)
  return { subject: stageOf(place), level: 'problem', what: more => what(short(place.name), more), fix, count }
}

const ROOM = 'Give it a larger spool, or a database that keeps up; when full, it can hold its sources up instead.'

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

/** @type {Record<string, Kind>} */
export const stagingKinds = {
  'broker-unreachable': {
    when: 'A broker is not reached, or refuses the gateway: one alarm for all nodes that use it.',
    level: 'problem',
    knows: ({ connected }, { name }) => connected.has(name),
    raiseAfterMs: 10_000,
    clearAfterMs: 10_000,
    several: count => `${count} brokers are not reachable`,
    read: ({ unconnected, spoolFullInSeconds }) => unconnected.map(({ broker, problem, nodes }) => {
      const refused = /SLUICE_BROKER_(AUTH|CLIENT_ID|TLS|PROTOCOL|BUSY|TAKEN_OVER)/.test(problem)
      const full = typeof spoolFullInSeconds === 'number' ? `: the spool is full in ${remaining(spoolFullInSeconds)}` : ''
      return {
        subject: { type: 'broker', name: broker },
        level: 'problem',
        what: `The broker ${short(broker)} ${refused ? 'refuses this gateway' : 'is not reachable'}${full}`,
        reason: [problem, `It is used by ${nodes.join(', ')}.`].filter(Boolean).join(' '),
        fix: refused ? 'Correct what the reason says in the node of the broker.' : 'Start the broker, or correct its address.'
      }
    })
  },
  spool: {
    when: 'A spool is filled over its limit (80 %); a problem once it accepts nothing.',
    level: 'problem',
    knows: ({ spools }, subject) => placesOf(spools, subject).some(({ gauge }) => Number(gauge.accepted) > 0),
    raiseAfterMs: 5000,
    clearAfterMs: 60_000,
    several: count => `${count} spools are nearly full`,
    read: ({ spools, limits }) => spools.flatMap(spool => {
      const { onDiskBytes, maxBytes, unstoredBytes, blocked } = spool.gauge
      const percent = Math.round(Number(onDiskBytes) / Number(maxBytes) * 100)
      if (!blocked && !(percent > limits.of('spool', spool.name))) return []
      const name = short(spool.name)
      const meanwhile = spool.gauge.refusedRows === undefined ? 'its sources wait' : 'sources wait, all else is refused' // by stage out
      const until = spool.fullInSeconds === null ? '' : `, and full in ${remaining(spool.fullInSeconds)}`
      return [{
        subject: stageOf(spool),
        level: blocked ? 'problem' : 'warning',
        what: blocked
          ? `The spool of ${name} accepts nothing: ${meanwhile}`
          : `The spool of ${name} is ${percent} % full${until}`,
        reason: [blocked, `${measure(Number(unstoredBytes), 'B')} of it are to be stored.`].filter(Boolean).join('; '),
        fix: 'Bring back the database or broker that it waits for, or make room on its disk.'
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
    several: count => `${count} stages have lost rows`,
    read: ({ spools, stageIns }) => [
      ...spools.map(spool => lossOf(spool, 'lostRows', (name, more) => `The spool of ${name} has lost ${counted(more)}`,
        'Its disk may be failing: sluice doctor looks at it.')),
      ...stageIns.map(stage => lossOf(stage, 'lostRows', (name, more) => `${counted(more)} that ${name} waits for are in no spool any more`,
        'A spool that was full and dropped them, or is gone, is the usual cause.'))
    ]
  },
  'rows-dropped': {
    when: 'A spool that is full, and told to drop the oldest, has dropped rows that some database has not stored.',
    level: 'problem',
    raiseAfterMs: 0,
    clearAfterMs: DAY_MS,
    event: 'life',
    several: count => `${count} stages have dropped rows`,
    read: ({ spools }) => spools.map(spool => {
      return lossOf(spool, 'droppedRows', (name, more) => `The full spool of ${name} has dropped ${counted(more)}`, ROOM)
    })
  },
  'messages-refused': {
    when: 'Messages, or values in them, that a stage out or stage in takes are not rows; a stage in keeps them as dead letters.',
    level: 'warning',
    raiseAfterMs: 0,
    clearAfterMs: HOUR_MS,
    event: 'process',
    several: count => `${count} stages get messages that are not rows`,
    read: ({ ownMeters }) => ownMeters.map(stage => ({
      subject: stageOf(stage),
      level: 'warning',
      what: more => `${short(stage.name)} could not make rows of what it gets: ${counted(more, 'refusal')}`,
      fix: 'The node says which and why to a catch node; sluice dead-letters list has those that are kept.',
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
    several: count => `${count} stages have not accepted rows`,
    read: snapshot => refusedBy(snapshot).map(({ stage, rows }) => ({
      subject: stageOf(stage),
      level: 'problem',
      what: more => `${short(stage.name)} could not accept ${counted(more)}, and nothing keeps them`,
      fix: 'The log says why: a stage out may be full, or have too many sources, or names that cannot be used.',
      count: rows
    }))
  },
  parked: {
    when: 'Rows went into a flow several times without reaching their sinks: they wait in the spool for the next deploy.',
    level: 'warning',
    knows: ({ stageIns }, subject) => placesOf(stageIns, subject).length > 0, // the start was a deploy
    raiseAfterMs: 5000,
    clearAfterMs: 10_000,
    several: count => `Behind ${count} stages rows wait for a deploy`,
    read: ({ stageIns }) => stageIns.filter(({ gauge }) => Number(gauge.parkedRows) > 0).map(stage => ({
      subject: stageOf(stage),
      level: 'warning',
      what: `${counted(Number(stage.gauge.parkedRows))} behind ${short(stage.name)} reach no sink, and wait for a deploy`,
      fix: 'See that the flow passes on, or settles, all that it gets; then deploy.'
    }))
  },
  'identity-clash': happening('clashes', {
    when: 'The identity of a batch is taken by another: two gateways have one id, or a spool was copied.',
    level: 'problem',
    what: (name, more) => `${counted(more, 'batch').replace(/batchs$/, 'batches')} of ${name} found their place taken by others`,
    fix: 'Two gateways may have one id, as after a copied card: give one of them another, see SLUICE_CLASH.',
    several: count => `At ${count} stages identities clash`
  }),
  'set-back': happening('setBack', {
    when: 'A database has less than it had, as after a backup was played back; what the spool still has is sent again.',
    level: 'warning',
    what: name => `A database behind ${name} was set back: what the spool still has is stored again`,
    fix: 'Nothing, if a backup was played back; else see what has removed rows.',
    several: count => `Databases behind ${count} stages were set back`
  }),
  strangers: happening('strangers', {
    when: 'Messages come under the names of gateways or sinks that they are not from.',
    level: 'warning',
    what: (name, more) => `${name} was told by strangers what is stored: ${counted(more, 'message')} ignored`,
    fix: 'Have the broker check who may publish where: sluice broker-acl writes its rules.',
    several: count => `${count} spools hear from strangers`
  }),
  impossible: happening('impossible', {
    when: 'Messages of the staging make no sense.',
    level: 'warning',
    what: (name, more) => `${name} has ignored ${counted(more, 'message')} that made no sense`,
    fix: 'Something else publishes below sluice/: have the broker check who may.',
    several: count => `${count} spools hear what makes no sense`
  }),
  'too-big': happening('tooBig', {
    when: 'Rows are larger than the broker passes on.',
    level: 'problem',
    what: (name, more) => `The broker passes on none of ${counted(more)} of ${name}: they are too large`,
    fix: 'Raise the largest message that the broker takes (message_size_limit, max_packet_size of Mosquitto).',
    several: count => `${count} spools have rows that are too large for the broker`
  }),
  doubts: happening('doubts', {
    when: 'What a database has cannot be verified, so its rows stay in the spool.',
    level: 'warning',
    what: name => `What the databases behind ${name} have cannot be verified`,
    fix: 'The log says which gateway or sink it is.',
    several: count => `What ${count} spools hear cannot be verified`
  })
}
