import { randomUUID } from 'node:crypto'
import { access, readFile, rename, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SluiceError, describe } from '../base/errors.js'
import { makePrivateFolder, replaceFile } from '../base/files.js'
import { openQueues } from './open-queues.js'

/**
 * How the command line has the running gateway replay dead letters: by files in the folder that both know. The command writes a request,
 * the gateway claims it by renaming it, and writes an answer.
 *
 * @typedef {import('./queue.js').DeadLetterQueue} DeadLetterQueue
 * @typedef {{id: string, keys: string[]|null}} Request  null means all
 * @typedef {{replayed: number}} Replayed  in rows
 * @typedef {{id: string, replayed: number}|{id: string, error: string}} Answer
 */
const REQUEST = 'replay-request.json'
const TAKEN = 'replay-taken.json'
const ANSWER = 'replay-answer.json'

/**
 * Answers requests for each sink that is open or will be.
 * @param {(sink: string) => boolean} isChosen
 * @param {(sink: string, keys: string[]|null) => Promise<Replayed>} replay
 * @param {import('../base/log.js').Log} log
 * @returns {() => Promise<void>} ends it
 */
export function serveRequests (isChosen, replay, log) {
  /** @type {Map<DeadLetterQueue, {close: () => Promise<void>}>} */
  const watches = new Map()
  const add = (/** @type {string} */ sink, /** @type {DeadLetterQueue} */ queue) => {
    if (isChosen(sink)) watches.set(queue, watchRequests(queue.folder, keys => replay(sink, keys), { log }))
  }
  const remove = (/** @type {string} */ _sink, /** @type {DeadLetterQueue} */ queue) => {
    watches.get(queue)?.close()
    watches.delete(queue)
  }
  for (const [sink, queue] of openQueues) add(sink, queue)
  openQueues.on('added', add).on('removed', remove)
  return async () => {
    openQueues.off('added', add).off('removed', remove)
    await Promise.all(Array.from(watches.values(), watch => watch.close()))
  }
}

/**
 * @param {string} folder  of one sink's dead letters
 * @param {(keys: string[]|null) => Promise<Replayed>} onRequest  null means all; what it rejects with is the answer
 * @param {{pollMs?: number, log?: import('../base/log.js').Log}} [options]
 * @returns {{close: () => Promise<void>}} which ends it, after the current request
 */
export function watchRequests (folder, onRequest, { pollMs = 500, log } = {}) {
  const closing = new AbortController()
  const watch = async () => {
    while (!closing.signal.aborted) {
      try {
        const request = await take(folder)
        if (request) await replaceFile(join(folder, ANSWER), JSON.stringify(await answer(request, onRequest)))
      } catch (error) {
        log?.error(`Cannot answer a request to replay dead letters in "${folder}": ${describe(error)}.`)
      }
      await delay(pollMs, undefined, { signal: closing.signal, ref: false }).catch(() => {}) // aborted: the loop ends
    }
  }
  const watching = watch()
  return {
    close () {
      closing.abort()
      return watching
    }
  }
}

/**
 * @param {string} folder  of one sink's dead letters
 * @param {string[]|null} keys
 * @param {{takenWithinMs?: number, answeredWithinMs?: number, pollMs?: number}} [options]
 * @returns {Promise<Replayed>} rejects with SLUICE_REPLAY_NO_GATEWAY, SLUICE_REPLAY_UNANSWERED (it may still be at work),
 *   SLUICE_REPLAY_FAILED
 */
export async function requestReplay (folder, keys, { takenWithinMs = 5000, answeredWithinMs = 30_000, pollMs = 100 } = {}) {
  const id = randomUUID()
  await makePrivateFolder(folder)
  await replaceFile(join(folder, REQUEST), JSON.stringify({ id, keys }))
  const startMs = performance.now()
  for (let isTaken = false; ; await delay(pollMs)) {
    const answered = await readJson(join(folder, ANSWER))
    if (answered?.id === id) {
      await rm(join(folder, ANSWER), { force: true })
      if ('replayed' in answered) return { replayed: answered.replayed }
      throw new SluiceError('SLUICE_REPLAY_FAILED', `The gateway could not replay: ${answered.error}`)
    }
    const waitedMs = performance.now() - startMs
    isTaken ||= !(await exists(join(folder, REQUEST)))
    if (!isTaken && waitedMs >= takenWithinMs && await withdraw(folder)) {
      throw new SluiceError('SLUICE_REPLAY_NO_GATEWAY', `No gateway has accepted the request in "${folder}".`, {
        fix: 'Only a running gateway with a dead letters node can replay; nothing was done. Start it with "sluice start", or check ' +
          '--user-dir.'
      })
    }
    if (waitedMs >= answeredWithinMs) {
      const text = `The gateway has accepted the request but not answered within ${answeredWithinMs / 1000} s.`
      throw new SluiceError('SLUICE_REPLAY_UNANSWERED', text, {
        fix: 'It may still be at work: "sluice dead-letters list" shows what is left.'
      })
    }
  }
}

/** @param {string} folder @returns {Promise<Request|null>} */
async function take (folder) {
  try {
    await rename(join(folder, REQUEST), join(folder, TAKEN))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null
    throw error
  }
  const request = await readJson(join(folder, TAKEN))
  await rm(join(folder, TAKEN), { force: true })
  return request
}

/** @param {string} folder @returns {Promise<boolean>} false when the gateway has taken the request just now */
async function withdraw (folder) {
  try {
    await unlink(join(folder, REQUEST))
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return false
    throw error
  }
}

/** @param {Request} request @param {(keys: string[]|null) => Promise<Replayed>} onRequest @returns {Promise<Answer>} */
async function answer ({ id, keys }, onRequest) {
  try {
    const { replayed } = await onRequest(keys)
    return { id, replayed }
  } catch (error) {
    return { id, error: describe(error) }
  }
}

/** @param {string} path @returns {Promise<any>} null when it does not exist */
async function readJson (path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null
    throw error
  }
}

/** @param {string} path */
async function exists (path) {
  return access(path).then(() => true, () => false)
}
