import { setImmediate as nextTurn } from 'node:timers/promises'
import { GatheredAppends } from '../../broker/out/gathered-appends.js'
import { brokerIdOf } from '../../broker/stage-options.js'
import { everySecond } from '../../gateway/clock/heartbeat.js'
import { wallClock } from '../../gateway/clock/system-clock.js'
import { Mapper } from '../../gateway/messages/mapping/mapping.js'
import { toBatches } from '../../gateway/messages/payload.js'
import { marker } from '../../gateway/messages/marked.js'
import { namingDisk } from '../../gateway/base/disk-full.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { headlineOf } from '../../gateway/base/headlines.js'
import { countOf } from '../../gateway/messages/refusals.js'
import { isReplayed } from '../../gateway/dead-letters/replay.js'
import { backpressure } from '../../gateway/flow/backpressure.js'
import { measure, quantity } from '../../gateway/stats/format.js'
import { stats } from '../../gateway/stats/stats.js'
import { onFlows } from '../flow-events.js'
import { dataDir, defineNode, failClosing, handlesInput, throttledStatus } from '../node.js'
import { nameOf, stageNameOf } from '../names.js'
import { counted, sentence } from '../status.js'
import { gatheringOptions, intervalOptions } from './gathering.js'
import { openStage } from './open-stage.js'
import { placesOf } from './places.js'
import { schema } from './stage-out.schema.js'

/** Why a name is that of no source: whoever invents such names would have a meter of each. */
const NO_SOURCE = ['SLUICE_SOURCE_COUNT', 'SLUICE_SOURCE_NAME']

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-stage-out', schema, async (node, options) => {
    const mapper = new Mapper(options.mappings)
    const show = throttledStatus(node)
    const name = nameOf(RED, node)
    wallClock.start()
    const refused = { values: 0, rows: 0 }
    const gauge = () => ({ refusedRows: refused.rows })
    const opening = open(RED, node, options, gauge).catch(error => { throw namingDisk(error, dataDir(RED)) })
    /** The sources that feed this node, which wait while it is full. @type {Set<string>} */
    const feeders = new Set()
    const gathering = new GatheredAppends({
      ...gatheringOptions(options),
      ...options.gatherIntervalMs > 0 && intervalOptions(options.gatherIntervalMs),
      append: async batch => (await opening).stage.append(batch)
    })

    const pauseFeeders = () => { for (const feeder of feeders) backpressure.pause(feeder, node.id) }
    const resumeFeeders = () => { for (const feeder of feeders) backpressure.resume(feeder, node.id) }

    handlesInput(node, async message => {
      if (typeof message.sluiceSource === 'string') feeders.add(message.sluiceSource)
      const content = await marker.read(now => {
        const source = options.source || undefined
        return mapper.take(message, { source, now }) ?? toBatches(message, { source, now })
      })
      await gathering.message(() => Promise.all(content.batches.map(accept)))
      const count = countOf(content.refused)
      if (count === 0) return
      refused.values += count
      ownMeter().errors += count
      throw refusal(content.refused)
    })

    /** Of what belongs to no source. */
    const ownMeter = () => stats.ownMeter(stageNameOf(name, 'stage out'), node.id)

    /** @param {import('../../gateway/batch/batch.js').Batch} batch */
    async function accept (batch) {
      if (isReplayed(batch)) throw replayRefusal()
      try {
        const { stage, places } = await opening.catch(error => {
          pauseFeeders()
          throw error
        })
        if (stage.blocked) pauseFeeders()
        places.admit(batch.source)
        await gathering.append(batch)
        stats.meter('stage', batch.source).record(batch)
      } catch (error) {
        const isInvented = isCode(error, ...NO_SOURCE)
        const meter = isInvented ? ownMeter() : stats.meter('stage', batch.source)
        meter.dropped += batch.rows
        refused.rows += batch.rows
        throw isCode(error, 'SLUICE_SPOOL_FULL') ? withoutRoom(error, batch) : error
      }
    }

    const stopShowing = everySecond(() => opening.then(opened => show(statusOf(opened, refused)), () => {}))
    node.on('close', async (/** @type {() => void} */ done) => {
      stopShowing()
      pauseUntilDeployed(RED, feeders, node.id)
      try {
        const { close } = await opening
        marker.release()
        await nextTurn() // what the flow has under way still arrives
        gathering.flush()
        await close()
      } catch (error) {
        failClosing(RED, node, error)
      }
      resumeFeeders()
      done()
    })

    const { stage } = await opening
    stage.on('full', pauseFeeders)
    stage.on('room', () => { if (!stage.blocked) resumeFeeders() })
    stage.on('dropped', (source, { rows }) => { stats.meter('stage', source).dropped += rows })
    stage.on('lost', (source, { rows }) => { stats.meter('stage', source).lost += rows })
  })
}

/**
 * Between a node's end and its next beginning, Node-RED drops what is sent to it: until the deploy is done, its sources are paused.
 * @param {import('../node.js').RED} RED
 * @param {Set<string>} feeders
 * @param {string} id
 */
function pauseUntilDeployed (RED, feeders, id) {
  const by = `${id}, being deployed`
  for (const feeder of feeders) backpressure.pause(feeder, by)
  const stopListening = onFlows(RED, 'flows:started', () => {
    stopListening()
    for (const feeder of feeders) backpressure.resume(feeder, by)
  })
}

/**
 * @param {import('../node.js').RED} RED
 * @param {import('../node.js').Node} node
 * @param {any} options
 * @param {() => import('../../gateway/stats/reader.js').Gauge} gauge  what the node adds to that of its spool
 */
async function open (RED, node, { whenFull, spoolMegabytes, fsync, fsyncIntervalMs, gatherRows, maxSources, ...options }, gauge) {
  const opened = await openStage(RED, node, {
    gauge,
    broker: brokerIdOf(options),
    maxBytes: spoolMegabytes * 2 ** 20,
    whenFull,
    fsync,
    fsyncIntervalMs,
    recordRows: gatherRows,
    ledger: process.env.SLUICE_SPOOL_LEDGER // where a kill test has every segment kept to check against
  })
  return { ...opened, places: placesOf(opened.stage, maxSources) }
}

/** @param {import('../../gateway/messages/payload.js').Refused[]} refused */
export function refusal (refused) {
  const { index, reason } = refused[0]
  const place = index >= 0 ? `row ${index}: ` : ''
  const more = countOf(refused) > 1 ? `, and ${countOf(refused) - 1} more` : ''
  return new SluiceError('SLUICE_PAYLOAD', `Refused ${place}${reason}${more}.`, { details: { refused } })
}

/**
 * A source of Sluice waits for a full spool; what came has not. Nothing here knows whether its sender has it still.
 * @param {SluiceError} error
 * @param {import('../../gateway/batch/batch.js').Batch} batch
 */
function withoutRoom (error, { rows, source }) {
  const what = rows === 1 ? 'a row' : `${quantity(rows)} rows`
  return new SluiceError('SLUICE_SPOOL_FULL', error.message, {
    cause: error,
    fix: `Sources of Sluice wait for room; what sent ${what} of "${source}" did not. That is refused, counted, and ` +
      'lost unless a catch node keeps the message and sends it again.'
  })
}

/** @param {unknown} error @param {string[]} codes @returns {error is SluiceError} */
function isCode (error, ...codes) { return error instanceof SluiceError && codes.includes(error.code) }

/** The spool gives a batch an identity of its own each time, so a replay that is repeated after a crash would be stored twice. */
function replayRefusal () {
  return new SluiceError('SLUICE_REPLAY_STAGED', 'Rows that are replayed cannot be staged: they would go to every sink, perhaps twice.', {
    fix: 'Wire the second output of the dead letters node to the sink, or to nothing: then they go to the sink that they are from.'
  })
}

/**
 * @param {Pick<Awaited<ReturnType<typeof open>>, 'stage'|'link'>} opened
 * @param {{values: number, rows: number}} refused  `rows`: which the spool has not accepted, and nothing keeps
 * @returns {import('../node.js').Status}
 */
export function statusOf ({ stage: { state }, link: { connection, flaw } }, refused) {
  const { unstoredBytes, spoolBytes, maxBytes, blocked, droppedRows, lostRows, connected, unwaitedSinks } = state
  const { clashes, setBack, strangers, impossible, tooBig, doubts } = state
  const losses = counted({
    'rows lost': lostRows, 'rows dropped': droppedRows, 'rows refused': refused.rows, clashes, refused: refused.values,
    'too big': tooBig, 'set-backs of databases': setBack, 'not verified': doubts, 'messages of strangers': strangers,
    'impossible messages': impossible
  })
  const unstored = `${measure(unstoredBytes, 'B')} to store`
  const used = `spool ${Math.round(spoolBytes / maxBytes * 100)} % full`
  if (blocked) return { fill: 'red', shape: 'dot', text: sentence(`full: ${blocked}`, ...losses, unstored) }
  if (unwaitedSinks > 0) {
    return { fill: 'red', shape: 'ring', text: sentence(`${quantity(unwaitedSinks)} sinks too many`, ...losses, unstored, used) }
  }
  const { problem } = connection
  if (!connected || problem) {
    return { fill: 'yellow', shape: 'ring', text: sentence(problem ? headlineOf(problem) : 'connecting', ...losses, unstored, used) }
  }
  if (flaw) return { fill: 'red', shape: 'ring', text: sentence(flaw, ...losses, unstored) }
  return { fill: clashes > 0 ? 'red' : losses.length > 0 ? 'yellow' : 'green', shape: 'dot', text: sentence(unstored, ...losses, used) }
}
