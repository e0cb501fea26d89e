import { setImmediate as nextTurn } from 'node:timers/promises'
import { GatheredAppends } from '../../broker/out/gathered-appends.js'
import { everySecond } from '../../gateway/clock/heartbeat.js'
import { wallClock } from '../../gateway/clock/system-clock.js'
import { Mapper } from '../../gateway/messages/mapping/mapping.js'
import { toBatches } from '../../gateway/messages/payload.js'
import { marker } from '../../gateway/messages/marked.js'
import { namingDisk } from '../../gateway/base/disk-full.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { countOf } from '../../gateway/messages/refusals.js'
import { isReplayed } from '../../gateway/dead-letters/replay.js'
import { backpressure } from '../../gateway/flow/backpressure.js'
import { measure, quantity } from '../../gateway/stats/format.js'
import { stats } from '../../gateway/stats/stats.js'
import { onFlows } from '../flow-events.js'
import { dataDir, defineNode, failClosing, handlesInput, throttledStatus } from '../node.js'
import { gatheringOptions, intervalOptions } from './gathering.js'
import { openStage } from './open-stage.js'
import { placesOf } from './places.js'
import { schema } from './stage-out.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-stage-out', schema, async (node, options) => {
    const mapper = new Mapper(options.mappings)
    const show = throttledStatus(node)
    wallClock.start()
    const opening = open(RED, node, options).catch(error => { throw namingDisk(error, dataDir(RED)) })
    /** The sources that feed this node, which wait while it is full. @type {Set<string>} */
    const feeders = new Set()
    let refusedValues = 0
    const gathering = new GatheredAppends({
      ...gatheringOptions(options),
      ...options.gatherIntervalMs > 0 && intervalOptions(options.gatherIntervalMs),
      append: async batch => (await opening).stage.append(batch)
    })

    const pauseFeeders = () => { for (const feeder of feeders) backpressure.pause(feeder, node.id) }
    const resumeFeeders = () => { for (const feeder of feeders) backpressure.resume(feeder, node.id) }

    handlesInput(node, async message => {
      if (typeof message.sluiceSource === 'string') feeders.add(message.sluiceSource)
      const { batches, refused } = await marker.read(now => {
        const source = options.source || undefined
        return mapper.take(message, { source, now }) ?? toBatches(message, { source, now })
      })
      await gathering.message(() => Promise.all(batches.map(accept)))
      if (refused.length === 0) return
      refusedValues += countOf(refused)
      ownMeter().errors += countOf(refused)
      throw refusal(refused)
    })

    /** Of what belongs to no source. */
    const ownMeter = () => stats.meter('stage', `${node.name || node.id} (stage out)`)

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
        const isInvented = error instanceof SluiceError && error.code === 'SLUICE_SOURCE_COUNT'
        const meter = isInvented ? ownMeter() : stats.meter('stage', batch.source)
        meter.dropped += batch.rows
        throw error
      }
    }

    const stopShowing = everySecond(() => opening.then(opened => show(statusOf(opened, refusedValues)), () => {}))
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

/** @param {import('../node.js').RED} RED @param {import('../node.js').Node} node @param {any} options */
async function open (RED, node, { broker, whenFull, spoolMegabytes, fsync, fsyncIntervalMs, gatherRows, maxSources }) {
  const opened = await openStage(RED, node, {
    broker,
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

/** The spool gives a batch an identity of its own each time, so a replay that is repeated after a crash would be stored twice. */
function replayRefusal () {
  return new SluiceError('SLUICE_REPLAY_STAGED', 'Rows that are replayed cannot be staged: they would go to every sink, perhaps twice.', {
    fix: 'Wire the second output of the dead letters node to the sink, or to nothing: then they go to the sink that they are from.'
  })
}

/** @param {Awaited<ReturnType<typeof open>>} opened @param {number} refusedValues @returns {import('../node.js').Status} */
function statusOf ({ stage: { state }, link: { connection, flaw } }, refusedValues) {
  const { unstoredBytes, spoolBytes, maxBytes, blocked, droppedRows, lostRows, connected, unwaitedSinks } = state
  const { clashes, setBack, strangers, impossible, tooBig, doubts } = state
  const losses = notesOf({
    'rows dropped': droppedRows, 'rows lost': lostRows, refused: refusedValues, clashes, 'databases set back': setBack, 'too big': tooBig,
    'not verified': doubts
  })
  const notes = losses + notesOf({ 'messages of strangers': strangers, 'impossible messages': impossible })
  const text = `${measure(unstoredBytes, 'B')} to store, ${Math.round(spoolBytes / maxBytes * 100)} % of the spool used${notes}`
  if (blocked) return { fill: 'red', shape: 'dot', text: `full: ${blocked}` }
  if (unwaitedSinks > 0) return { fill: 'red', shape: 'ring', text: `SLUICE_REQUIRED_SINKS: ${unwaitedSinks} sinks too many; ${text}` }
  if (!connected) return { fill: 'yellow', shape: 'ring', text: `${connection.problem?.code ?? 'connecting'}; ${text}` }
  if (flaw) return { fill: 'red', shape: 'ring', text: `${flaw}; ${text}` }
  return { fill: clashes > 0 ? 'red' : notes ? 'yellow' : 'green', shape: 'dot', text }
}

/** @param {Record<string, number>} counts */
function notesOf (counts) {
  return Object.entries(counts).filter(([, count]) => count > 0).map(([what, count]) => `, ${quantity(count)} ${what}`).join('')
}
