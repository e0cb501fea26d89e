import { SluiceError } from '../../gateway/base/errors.js'
import { everySecond } from '../../gateway/clock/heartbeat.js'
import { Arrivals } from '../../gateway/dead-letters/arrivals.js'
import { DeadLetterDesk } from '../../gateway/dead-letters/desk.js'
import { openQueues } from '../../gateway/dead-letters/open-queues.js'
import { serveRequests } from '../../gateway/dead-letters/replay-requests.js'
import { sinks } from '../../gateway/flow/sinks.js'
import { quantity } from '../../gateway/stats/format.js'
import { defineNode, handlesInput, logOf, throttledStatus } from '../node.js'
import { schema } from './dead-letters.schema.js'
import { Handover } from './handover.js'

/**
 * @typedef {{sink?: string, keys?: string[], key?: string, offset?: number, limit?: number}} Selection
 */

/** Events and answers leave here. */
const ANSWERS = 0
/** Rows to replay leave here. */
const ROWS = 1

/**
 * Reports dead letters as they come, lists them, and replays them into what is wired to its second output.
 * @param {import('../node.js').RED} RED
 */
export default function (RED) {
  defineNode(RED, 'sluice-dead-letters', schema, (node, { sink: only }) => {
    const show = throttledStatus(node)
    const handover = new Handover(RED, node)
    const isChosen = (/** @type {string} */ sink) => !only || sink === openQueues.nameOf(only)
    const chosen = () => [...openQueues].filter(([sink]) => isChosen(sink))
    const isWired = node.wires[ROWS]?.length > 0
    const desk = new DeadLetterDesk(chosen, (batch, sink) => {
      return isWired ? handover.send(ROWS, { topic: batch.source, payload: batch }) : sinkOf(sink).write(batch)
    })
    const arrivals = new Arrivals(chosen, payload => node.send(through(ANSWERS, { topic: 'dead-lettered', payload })))
    let replaying = false

    const commands = {
      list: (/** @type {Selection} */ selection) => desk.list(selection),
      show: (/** @type {Selection} */ { key, keys: [first] = [], sink }) => desk.show({ key: key ?? first ?? '', sink }),
      async replay (/** @type {Selection} */ { key, keys = key ? [key] : undefined, sink }) {
        replaying = true
        look()
        try {
          return await desk.replay({ sink, keys })
        } finally {
          replaying = false
        }
      }
    }

    const look = () => {
      arrivals.look().catch(error => node.error(error))
      show(statusOf(desk.count, replaying))
    }
    const stopLooking = everySecond(look)

    handlesInput(node, async (message, send) => {
      const named = [message.topic, message.payload].find(name => Object.hasOwn(commands, String(name)))
      if (!named) {
        throw new SluiceError('SLUICE_DEAD_LETTER_COMMAND', `Cannot do ${JSON.stringify(message.topic)}.`, {
          fix: 'The topic must be list, show or replay.'
        })
      }
      const command = /** @type {keyof typeof commands} */ (named)
      send(through(ANSWERS, { ...message, topic: command, payload: await commands[command](selectionOf(message.payload, command)) }))
    })

    const stopServing = serveRequests(isChosen, (sink, keys) => commands.replay({ sink, keys: keys ?? undefined }), logOf(node))

    node.on('close', (/** @type {(error?: unknown) => void} */ done) => {
      stopLooking()
      handover.close()
      stopServing().then(() => done(), done)
    })
    look()
  })
}

/** @param {string} name @throws {SluiceError} SLUICE_DEAD_LETTER_SINK */
function sinkOf (name) {
  const sink = sinks.named(name)
  if (sink) return sink
  throw new SluiceError('SLUICE_DEAD_LETTER_SINK', `No sink named "${name}" is running, so its rows cannot be stored there.`, {
    fix: 'Wire the second output to the sink that is to store them.'
  })
}

/** @param {number} count @param {boolean} replaying @returns {import('../node.js').Status} */
function statusOf (count, replaying) {
  if (count === 0) return { fill: 'green', shape: 'dot', text: 'no dead letters' }
  const text = `${quantity(count)} dead letter${count === 1 ? '' : 's'}`
  return replaying ? { fill: 'blue', shape: 'ring', text: `replaying, ${text} left` } : { fill: 'yellow', shape: 'dot', text }
}

/**
 * What a command is about: an object has it all, a text is a key, a list has keys; what else an inject node sends means everything.
 * @param {unknown} payload
 * @param {string} command
 * @returns {Selection}
 */
function selectionOf (payload, command) {
  if (Array.isArray(payload)) return { keys: payload.map(String) }
  if (typeof payload === 'object' && payload !== null) {
    const { sink, ...selection } = /** @type {Selection} */ (payload)
    return { ...selection, ...sink && { sink: openQueues.nameOf(sink) } }
  }
  return typeof payload === 'string' && payload !== '' && payload !== command ? { key: payload } : {}
}

/** A message for one output. @param {number} output @param {object} message */
function through (output, message) {
  const outputs = []
  outputs[output] = message
  return outputs
}
