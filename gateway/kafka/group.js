import { setTimeout as sleep } from 'node:timers/promises'
import { backoff } from '../base/backoff.js'
import { Doubles } from './doubles.js'
import { Fetcher } from './fetcher.js'
import { isElsewhere, isLost, isRebalance, Membership } from './membership.js'
import { boundsOf } from './offsets.js'
import { Progress } from './progress.js'

/**
 * A member of a consumer group: partitions of topics are shared among all members, each read by one of them.
 *
 * It goes on by itself, whatever happens: brokers that are away, rebalances, being taken for dead; topics that are missing, and come later,
 * are deleted, or created again under the same name. `onProblem` says what is wrong, and null when that has passed.
 *
 * A **stream** is what one partition of one topic gives: a topic that is created again has another id, and its partitions are other
 * streams. A log that was cut off, since another broker took over without the end of it, goes on under a higher leader epoch: topic id,
 * partition, leader epoch and offset of a record are never those of another record.
 *
 * Each stream begins with `onAssigned`, and ends with `onRevoked`: in between, and only then, its records come, in order, one call of
 * `onRecords` at a time. The next are fetched when that has resolved, so that what takes long is waited for; heartbeats go on meanwhile.
 *
 * @typedef {object} Stream
 * @property {string} topic
 * @property {string} topicId
 * @property {number} partition
 *
 * @typedef {object} Assigned  what is known of a stream when it begins
 * @property {Stream} stream  the same object in all calls
 * @property {Place & {note?: string}|null} committed  where to go on, as the group has committed it for this topic id, and what was noted
 *   with it; null where it has not
 * @property {bigint} first  of what the brokers still have
 * @property {bigint} end  the offset after the last one that was committed by its writer
 * @property {boolean} isFirst  the group has committed nothing of its topics yet, and nothing has begun here before
 *
 * @typedef {import('./fetcher.js').Place} Place
 *
 * @typedef {object} KafkaMessage
 * @property {bigint} offset
 * @property {{first: bigint, last: bigint}} within  offsets of the first and the last record that were written at once with it: they are
 *   always delivered together, and what compaction leaves of them keeps these bounds
 * @property {number} leaderEpoch  under which it was written
 * @property {Buffer|null} key
 * @property {Buffer|null} value
 * @property {[Buffer|null, Buffer|null][]} headers
 * @property {bigint} timestamp  milliseconds since 1970
 *
 * @typedef {object} MemberOptions
 * @property {string} group
 * @property {string[]|RegExp} topics  names, or what names match
 * @property {(assigned: Assigned[]) => Promise<(Place|undefined)[]|void>} [onAssigned]  tells where each begins; undefined: where the
 *   group has committed to, otherwise at the first. It may take its time: a stream that is revoked meanwhile does not begin. What is
 *   committed here, the group knows before anything is read
 * @property {(streams: Stream[], why: {isLost: boolean}) => Promise<void>|void} [onRevoked]  what is committed until it resolves, soon,
 *   still counts, unless they are lost: others may read them already, or they are no more
 * @property {boolean} [areWhole]  see `Handlers`
 * @property {(stream: Stream) => Promise<void>} [hasRoom]  likewise
 * @property {(stream: Stream, broken: import('./fetcher.js').Broken) => Promise<void>|void} [onBroken]  likewise
 * @property {(stream: Stream, messages: KafkaMessage[], next: bigint) => Promise<void>|void} onRecords  of one record batch. `next` is the
 *   offset to go on with: not always that after the last message, as what was undone, or compacted away, has offsets as well. There may be
 *   no messages at all
 * @property {(stream: Stream, from: bigint, to: bigint) => Promise<void>|void} [onGap]  what the brokers have deleted before it was read:
 *   offsets from `from` to before `to`
 * @property {(problem: Error|null) => void} onProblem
 * @property {number} [sessionMs]  a member that has not been heard of for so long is taken for dead; brokers want 6 seconds or more
 * @property {string} [name]  that no other member should have
 * @property {() => void} [onDouble]  another has it, and is no dead one; again and again while that is so
 */

/** @typedef {import('./client.js').Topic} Topic */

const SESSION_MS = 10_000
const HEARTBEAT_MS = 1000
/** How often it looks for topics and partitions that have come, or gone. */
const LOOK_MS = 5000
/** So often, a coordinator may not be ready yet. */
const USUAL_FAILURES = 5
const PAUSE_MS = { first: 100, max: 5000, jitter: 0.2 }
/** A group waits for a member no longer. */
const REVOKE_MS = 10_000
const LEAVE_MS = 3000

export class GroupMember {
  #options
  #talking
  #reading
  #membership
  #fetcher
  #ended
  #doubles
  #closing = new AbortController()
  /** @type {() => void} */
  #wake = () => {}
  /** What is wrong, by what it is wrong with. @type {Map<string, unknown>} */
  #problems = new Map()

  /** What the group has given to this member, by place, whether its topic is there or not. @type {Set<string>} */
  #places = new Set()
  /** @type {Map<string, Stream>} */
  #streams = new Map()
  /** Those that `onAssigned` has been asked about. @type {Set<Stream>} */
  #begun = new Set()
  #hasBegun = false
  /** @type {Map<Stream, Progress>} */
  #progress = new Map()

  /** @type {Map<string, Topic>} */
  #topics = new Map()
  #lookedAt = -Infinity
  /** @type {string[]} */
  #names = []
  /** Of the leader. @type {Map<string, number>|null} */
  #shared = null

  /** It begins at once. @param {import('./client.js').Cluster} cluster @param {MemberOptions} options */
  constructor (cluster, options) {
    this.#options = options
    this.#talking = cluster.client(options.name)
    this.#reading = cluster.client()
    const { name, onDouble, sessionMs = SESSION_MS } = options
    const membership = this.#membership = new Membership(this.#talking, options.group, sessionMs)
    this.#doubles = name && onDouble ? new Doubles({ membership, sessionMs, onDouble }) : null
    this.#fetcher = new Fetcher(this.#reading, {
      isCurrent: () => this.#membership.isValid,
      areWhole: options.areWhole,
      hasRoom: options.hasRoom,
      onBroken: options.onBroken,
      onRecords: (stream, messages, next) => {
        this.#progress.get(stream)?.read(messages)
        return options.onRecords(stream, messages, next)
      },
      onGap: (stream, from, to) => options.onGap?.(stream, from, to),
      onCut: (stream, place) => this.#cut(stream, place),
      onMissing: () => this.#lookSoon(),
      onProblem: problem => this.#tell('reading', problem)
    })
    this.#ended = this.#run()
  }

  get assigned () { return [...this.#streams.values()] }

  /**
   * What is before it has been dealt with. The group is told soon, and before others get the stream; no harm is done where it is not.
   * @param {Stream} stream @param {bigint} offset
   * @param {string} [note]  short, for whoever goes on there
   */
  commit (stream, offset, note = '') {
    this.#progress.get(stream)?.commit(offset, note)
  }

  async close () {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#wake()
    await this.#revoke(this.assigned, false)
    this.#fetcher.close()
    await inTime(this.#membership.leave().catch(() => {}), LEAVE_MS)
    await Promise.all([this.#talking.close(), this.#reading.close()])
    await this.#ended
  }

  get #isClosing () { return this.#closing.signal.aborted }

  async #run () {
    for (let failures = 0; !this.#isClosing;) {
      try {
        await this.#look()
        const { assigned, shared } = await this.#membership.join(this.#names, this.#owned())
        failures = 0
        this.#shared = shared
        this.#tell('group', null)
        await this.#stay(assigned)
      } catch (error) {
        if (this.#isClosing) return
        if (isLost(error)) {
          this.#places.clear()
          await this.#revoke(this.assigned, true)
        }
        if (isLost(error) || isRebalance(error)) continue
        this.#talking.forget()
        if (!isElsewhere(error) || failures > USUAL_FAILURES) this.#tell('group', error)
        await this.#pause(backoff(failures++, PAUSE_MS))
      }
    }
  }

  /** Until it is time to join again. @param {import('./membership.js').Assignment[]} assigned */
  async #stay (assigned) {
    let isOver = false
    const given = this.#give(assigned).then(isLess => {
      isOver ||= isLess
      if (isOver) this.#wake()
    })
    try {
      while (!isOver && !this.#isClosing) {
        await this.#pause(HEARTBEAT_MS)
        if (!isOver && !this.#isClosing) isOver = await this.#beat()
      }
    } finally {
      await given
    }
  }

  /** @returns {Promise<boolean>} whether it is time to join again */
  async #beat () {
    try {
      await this.#membership.heartbeat()
      await this.#flush([...this.#progress.keys()])
      await this.#doubles?.look()
      const isOther = performance.now() > this.#lookedAt + LOOK_MS && await this.#look()
      this.#tell('group', null)
      return isOther
    } catch (error) {
      if (isLost(error) || isRebalance(error)) throw error
      // As long as the coordinator does not say otherwise, it is a member.
      if (!this.#isClosing) this.#tell('group', error)
      return false
    }
  }

  /** @param {import('./membership.js').Assignment[]} assigned @returns {Promise<boolean>} whether something was taken away */
  async #give (assigned) {
    this.#places = new Set(assigned.flatMap(({ topic, partitions }) => partitions.map(partition => placeOf({ topic, partition }))))
    const taken = this.assigned.filter(stream => !this.#places.has(placeOf(stream)))
    await this.#revoke(taken, false)
    await this.#begin()
    return taken.length > 0
  }

  /** As the next rebalance has to know. */
  #owned () {
    return Array.from(Map.groupBy(this.#places, place => place.slice(0, place.lastIndexOf('/'))), ([topic, its]) => {
      return { topic, partitions: its.map(place => Number(place.slice(topic.length + 1))) }
    })
  }

  /** What topics are there now. @returns {Promise<boolean>} whether partitions have to be shared out anew */
  async #look () {
    const { topics } = this.#options
    const isPattern = topics instanceof RegExp
    this.#topics = await this.#talking.topics(isPattern ? null : [...new Set([...topics, ...this.#shared?.keys() ?? []])])
    this.#lookedAt = performance.now()
    const names = isPattern ? [...this.#topics.keys()].filter(name => topics.test(name)).sort() : topics
    const isOther = String(names) !== String(this.#names) ||
      [...this.#shared ?? []].some(([name, count]) => (this.#topics.get(name)?.partitions.length ?? 0) !== count)
    this.#names = names
    await this.#revoke(this.assigned.filter(({ topic, topicId }) => this.#topics.get(topic)?.id !== topicId), true)
    await this.#begin()
    return isOther
  }

  #lookSoon () {
    this.#lookedAt = -Infinity
    this.#wake()
  }

  /** Streams of what is there, and was given to this member. */
  async #begin () {
    const fresh = []
    for (const place of this.#places) {
      const at = place.lastIndexOf('/')
      const [topic, partition] = [place.slice(0, at), Number(place.slice(at + 1))]
      const found = this.#topics.get(topic)
      if (this.#streams.has(place) || !found?.partitions[partition]) continue
      const stream = { topic, topicId: found.id, partition }
      this.#streams.set(place, stream)
      fresh.push(stream)
    }
    if (fresh.length > 0) this.#start(fresh)
  }

  /** @param {Stream[]} streams @param {Map<Stream, Place|null>} [cut]  those whose log has lost its end */
  async #start (streams, cut = new Map()) {
    const still = () => streams.filter(stream => this.#streams.get(placeOf(stream)) === stream)
    for (let failures = 0; still().length > 0 && !this.#isClosing;) {
      try {
        const its = still()
        const [committed, bounds] = await Promise.all([
          this.#membership.committed(this.#all(its)),
          boundsOf(this.#talking, its, ({ topic, partition }) => this.#topics.get(topic)?.partitions[partition]?.leader)
        ])
        const assigned = its.map(stream => ({
          stream,
          committed: (cut.has(stream) ? cut.get(stream) : committed.get(stream)) ?? null,
          isFirst: !this.#hasBegun && committed.size === 0,
          .../** @type {{first: bigint, end: bigint}} */ (bounds.get(stream))
        }))
        for (const stream of still()) {
          this.#begun.add(stream)
          this.#progress.set(stream, new Progress())
        }
        const places = await this.#options.onAssigned?.(assigned) ?? []
        await this.#flush(still())
        this.#hasBegun = true
        for (const [i, { stream, committed: place, first }] of assigned.entries()) {
          if (still().includes(stream)) this.#fetcher.add(stream, places[i] ?? place ?? { offset: first })
        }
        return this.#tell('beginning', null)
      } catch (error) {
        if (this.#isClosing) return
        if (!isRebalance(error)) this.#tell('beginning', error)
        await sleep(backoff(failures++, PAUSE_MS))
      }
    }
    this.#tell('beginning', null)
  }

  /** These, and what else there is of its topics. @param {Stream[]} streams @returns {Stream[]} */
  #all (streams) {
    const known = new Set(streams.map(placeOf))
    const others = this.#names.flatMap(topic => {
      const { id: topicId = '', partitions = [] } = this.#topics.get(topic) ?? {}
      return partitions.map((_, partition) => ({ topic, topicId, partition }))
    })
    return [...streams, ...others.filter(other => !known.has(placeOf(other)))]
  }

  /** @param {Stream[]} streams @param {boolean} areLost */
  async #revoke (streams, areLost) {
    if (streams.length === 0) return
    for (const stream of streams) {
      this.#fetcher.remove(stream)
      this.#streams.delete(placeOf(stream))
    }
    const begun = streams.filter(stream => this.#begun.delete(stream))
    if (begun.length > 0) {
      const revoked = async () => this.#options.onRevoked?.(begun, { isLost: areLost })
      await inTime(revoked().catch(error => this.#tell('revoking', error)), REVOKE_MS)
    }
    if (!areLost) await inTime(this.#flush(begun).catch(() => {}), LEAVE_MS)
    for (const stream of begun) this.#progress.delete(stream)
  }

  /** @param {Stream} stream @param {Place|null} place */
  async #cut (stream, place) {
    await this.#revoke([stream], true)
    const other = { ...stream }
    this.#streams.set(placeOf(other), other)
    this.#start([other], new Map([[other, place]]))
  }

  /** @param {Stream[]} streams */
  async #flush (streams) {
    const due = new Map(streams.flatMap(stream => {
      const place = this.#progress.get(stream)?.due
      return place ? [[stream, place]] : []
    }))
    if (due.size === 0) return
    await this.#membership.commit(due)
    for (const [stream, place] of due) this.#progress.get(stream)?.told(place)
  }

  /** Ends early when there is something to do. @param {number} ms */
  async #pause (ms) {
    const woken = new Promise(resolve => { this.#wake = () => resolve(undefined) })
    if (!this.#isClosing) await Promise.race([sleep(ms, undefined, { ref: false }), woken])
  }

  /** @param {string} what @param {unknown} problem  null: it has passed */
  #tell (what, problem) {
    if (this.#isClosing || (problem === null && !this.#problems.has(what))) return
    if (problem === null) this.#problems.delete(what)
    else this.#problems.set(what, problem)
    const [first = null] = this.#problems.values()
    this.#options.onProblem(/** @type {Error|null} */ (first))
  }
}

/** @param {{topic: string, partition: number}} where */
function placeOf ({ topic, partition }) {
  return `${topic}/${partition}`
}

/** @param {Promise<unknown>} work @param {number} ms */
async function inTime (work, ms) {
  await Promise.race([work, sleep(ms, undefined, { ref: false })])
}
