import { randomUUID } from 'node:crypto'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { readOptions } from '../../gateway/base/options.js'
import { Mapper, tryMappings } from '../../gateway/messages/mapping/mapping.js'
import { optionsOfForm } from '../form-options.js'
import { servePost } from '../serve-post.js'
import { shownRow } from './shown-row.js'
import { schema as stageIn } from './stage-in.schema.js'

/**
 * @typedef {import('../node.js').RED} RED
 * @typedef {import('../../broker/listening/listening.js').Listening} Listening
 * @typedef {Omit<import('../../broker/listening/listening.js').Heard, 'bytes'> & {bytes?: number}} Message
 * @typedef {{listening: Listening, expiry: NodeJS.Timeout}} Session
 *
 * @typedef {object} Way  to listen to what a config node is for
 * @property {object} schema  of its options
 * @property {import('../schema.js').Property} topics  what a form names beside its mappings
 * @property {(options: any, wanted: {topics: string[], mapper: Mapper}, more: {durationMs?: number}) => Listening|Promise<Listening>
 *   } listen
 */

/** What has been heard is kept for so long after the last question about it, and of so many forms at a time. */
const KEPT_MS = 600_000
const MAX_SESSIONS = 3

const MAX_MESSAGE_BYTES = 1_000_000

/** What the form says, typed. */
const { properties } = stageIn
const formSchema = {
  properties: {
    via: properties.via, // the others depend on it
    mappings: properties.mappings,
    timeUnit: properties.timeUnit
  }
}

/** By the type of the config node. @type {Map<string, Way>} */
const ways = new Map()

/**
 * Forms whose config node is of this type can listen.
 * @param {string} type @param {Omit<Way, 'topics'> & Partial<Way>} way
 */
export function listenBy (type, way) {
  ways.set(type, { topics: properties.foreignTopics, ...way })
}

/**
 * Answers what the forms ask to try mappings, of those who may deploy. Each answer is `{ok: true, …}` or `{ok: false, text}`:
 *
 * - POST sluice-topics/listen `{server: {id, type, options}, mappings, topics}`: listens for a while to what they are for, or to all there
 *   is; `{session}`. The server is a config node, deployed or not, with its options as they stand in the editor.
 * - POST sluice-topics/try `{session? | message?: {topic, payload}, mappings, timeUnit, topic?}`: what becomes of what has been heard, or
 *   of this message: `{problem?, progress?, found, row}`; the row is that of `topic`, or of the first that matches.
 * - POST sluice-topics/stop `{session}`: ends the listening. What has been heard is kept.
 *
 * @param {RED} RED
 * @param {{durationMs?: number}} [more]
 */
export function serveTopicTries (RED, more = {}) {
  /** @type {Map<unknown, Session>} */
  const sessions = new Map()

  const drop = (/** @type {unknown} */ id) => {
    const session = sessions.get(id)
    sessions.delete(id)
    clearTimeout(session?.expiry)
    session?.listening.close()
  }
  const keep = (/** @type {Listening} */ listening) => {
    const id = randomUUID()
    const expiry = setTimeout(drop, KEPT_MS, id).unref()
    sessions.set(id, { listening, expiry })
    for (const oldest of [...sessions.keys()].slice(0, -MAX_SESSIONS)) drop(oldest)
    return id
  }
  const find = (/** @type {unknown} */ id) => {
    const session = sessions.get(id)
    if (!session) throw new SluiceError('SLUICE_TRY_TOPICS', 'What has been heard is no longer kept.', { fix: 'Listen again.' })
    session.expiry.refresh()
    return session.listening
  }

  serve('listen', async ({ server = {}, ...form }) => {
    const way = ways.get(server.type)
    if (!way) throw new SluiceError('SLUICE_TRY_TOPICS', 'There is no server to listen to.', { fix: 'Choose one in the form.' })
    const options = readOptions(way.schema, optionsOfForm(RED, server.type, way.schema, server))
    const read = readOptions({ properties: { ...formSchema.properties, topics: way.topics } }, form)
    return { session: keep(await way.listen(options, { topics: read.topics, mapper: new Mapper(read.mappings) }, more)) }
  })

  serve('try', ({ session, message, topic, ...form }) => {
    const listening = session === undefined ? null : find(session)
    const messages = listening ? listening.messages : message ? [pasted(message)] : []
    const problem = listening?.problem
    return {
      ...listening && { progress: { ...listening.state, ...problem ? { problem: textOf(problem) } : {} } },
      ...outcome(form, messages, topic)
    }
  })

  serve('stop', async ({ session }) => {
    await find(session).close()
    return {}
  })

  /** @param {string} what @param {(body: any) => object|Promise<object>} answer */
  function serve (what, answer) {
    servePost(RED, `/sluice-topics/${what}`, async (request, response) => {
      try {
        response.json({ ok: true, ...await answer(request.body ?? {}) })
      } catch (error) {
        response.json({ ok: false, text: textOf(error) })
      }
    })
  }
}

/**
 * A mapping that is wrong is no failure: it is being edited.
 * @param {object} form
 * @param {Message[]} messages
 * @param {unknown} topic  the one whose row is asked for
 */
function outcome (form, messages, topic) {
  try {
    const { mappings, timeUnit } = readOptions(formSchema, form)
    const tried = tryMappings(mappings, messages, { timeUnit })
    const rows = tried.map((each, i) => shownRow(each, messages[i]))
    const row = rows.find(each => each.topic === topic) ?? rows.find(({ mapping }) => mapping !== -1) ?? rows[0] ?? null
    return { found: rows.map(({ refused, ...each }) => ({ topic: each.topic, mapping: each.mapping, refused: refused.length })), row }
  } catch (error) {
    return { problem: textOf(error), found: [], row: null }
  }
}

/** @param {{topic?: unknown, payload?: unknown}} message @returns {Message} */
function pasted ({ topic = '', payload = '' }) {
  if (String(payload).length > MAX_MESSAGE_BYTES) throw new SluiceError('SLUICE_TRY_TOPICS', 'The message is too long to be tried.')
  return { topic: String(topic), payload: Buffer.from(String(payload)) }
}

/** @param {unknown} error */
function textOf (error) {
  return error instanceof SluiceError ? error.message : describe(error)
}
