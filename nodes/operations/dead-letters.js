import { SluiceError } from '../../gateway/base/errors.js'
import { DeadLetterDesk } from '../../gateway/dead-letters/desk.js'
import { openQueues } from '../../gateway/dead-letters/open-queues.js'
import { quantity } from '../../gateway/stats/format.js'
import { watchRequests } from '../../gateway/dead-letters/replay-requests.js'
import { defineNode, handlesInput, logOf, throttledStatus } from '../node.js'
import { schema } from './dead-letters.schema.js'
import { Handover } from './handover.js'

/**
 * @typedef {import('../../gateway/dead-letters/queue.js').DeadLetterQueue} DeadLetterQueue
 * @typedef {{sink?: string, keys?: string[], key?: string, offset?: number, limit?: number}} Selection
 */

const LOOK_INTERVAL_MS = 1000
const NEWEST = 10

/** Events and answers leave here. */
const ANSWERS = 0
/** Rows to replay leave here. */
const ROWS = 1

/**
 * Tells of dead letters as they come, lists them, and replays them into what is wired to its second output.
 * @param {import('../node.js').RED} RED
 */
export default function (RED) {
  defineNode(RED, 'sluice-dead-letters', schema, (node, { sink: only }) => {
    const show = throttledStatus(node)
    const handover = new Handover(RED, node)
    const chosen = () => [...openQueues].filter(([name]) => !only || name === only)
    const desk = new DeadLetterDesk(chosen, batch => handover.send(ROWS, { topic: batch.source, payload: batch }))
    const watch = new Watch(chosen, payload => node.send(through(ANSWERS, { topic: 'dead-lettered', payload })))
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
      watch.look().catch(error => node.error(error))
      show(statusOf(desk.count, replaying))
    }
    const timer = setInterval(look, LOOK_INTERVAL_MS)

    handlesInput(node, async (message, send) => {
      const command = /** @type {keyof typeof commands|undefined} */ ([message.topic, message.payload].find(word => Object.hasOwn(commands, String(word))))
      if (!command) {
        throw new SluiceError('SLUICE_DEAD_LETTER_COMMAND', `Cannot do ${JSON.stringify(message.topic)}.`, { fix: 'The topic must be list, show or replay.' })
      }
      send(through(ANSWERS, { ...message, topic: command, payload: await commands[command](selectionOf(message.payload, command)) }))
    })

    const stopServing = node.wires[ROWS]?.length > 0
      ? serveRequests(name => !only || name === only, (sink, keys) => commands.replay({ sink, keys: keys ?? undefined }), logOf(node))
      : async () => {}

    node.on('close', (/** @type {(error?: unknown) => void} */ done) => {
      clearInterval(timer)
      handover.close()
      stopServing().then(() => done(), done)
    })
    look()
  })
}

/**
 * Does what `sluice dead-letters replay` asks for, for each sink that is open or will be.
 * @param {(sink: string) => boolean} isChosen
 * @param {(sink: string, keys: string[]|null) => Promise<{replayed: number}>} replay
 * @param {import('../../gateway/base/log.js').Log} log
 * @returns {() => Promise<void>} ends it
 */
function serveRequests (isChosen, replay, log) {
  /** @type {Map<DeadLetterQueue, {close: () => Promise<void>}>} */
  const watches = new Map()
  const add = (/** @type {string} */ sink, /** @type {DeadLetterQueue} */ store) => {
    if (isChosen(sink)) watches.set(store, watchRequests(store.folder, keys => replay(sink, keys), { log }))
  }
  const remove = (/** @type {string} */ _sink, /** @type {DeadLetterQueue} */ store) => {
    watches.get(store)?.close()
    watches.delete(store)
  }
  for (const [sink, store] of openQueues) add(sink, store)
  openQueues.on('added', add).on('removed', remove)
  return async () => {
    openQueues.off('added', add).off('removed', remove)
    await Promise.all(Array.from(watches.values(), watch => watch.close()))
  }
}

/** Notices what comes in. */
class Watch {
  /** @type {WeakMap<DeadLetterQueue, number>} how many had been there */
  #known = new WeakMap()

  /**
   * @param {() => [string, DeadLetterQueue][]} opened
   * @param {(event: {sink: string, added: number, count: number, newest: object[]}) => void} tell
   */
  constructor (opened, tell) {
    this.opened = opened
    this.tell = tell
  }

  async look () {
    for (const [sink, store] of this.opened()) {
      const { count } = store
      const added = count - (this.#known.get(store) ?? count)
      this.#known.set(store, count)
      if (added > 0) this.tell({ sink, added, count, newest: await store.list({ offset: Math.max(count - added, count - NEWEST), limit: NEWEST }) })
    }
  }
}

/** @param {number} count @param {boolean} replaying @returns {import('../node.js').Status} */
function statusOf (count, replaying) {
  if (count === 0) return { fill: 'green', shape: 'dot', text: 'no dead letters' }
  const text = `${quantity(count)} dead letter${count === 1 ? '' : 's'}`
  return replaying ? { fill: 'blue', shape: 'ring', text: `replaying, ${text} left` } : { fill: 'yellow', shape: 'dot', text }
}

/**
 * What a command is about: an object says it all, a text is a key, a list are keys; what else an inject node sends means everything.
 * @param {unknown} payload
 * @param {string} command
 * @returns {Selection}
 */
function selectionOf (payload, command) {
  if (Array.isArray(payload)) return { keys: payload.map(String) }
  if (typeof payload === 'object' && payload !== null) return payload
  return typeof payload === 'string' && payload !== '' && payload !== command ? { key: payload } : {}
}

/** A message for one output. @param {number} output @param {object} message */
function through (output, message) {
  const outputs = []
  outputs[output] = message
  return outputs
}
