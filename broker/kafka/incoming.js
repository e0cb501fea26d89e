import { GroupMember } from '../../gateway/kafka/group.js'
import { boundsOf } from '../../gateway/kafka/offsets.js'
import { HeldOffsets } from './held-offsets.js'
import { STAGE_TOPICS } from './topics.js'

/**
 * @typedef {import('../../gateway/kafka/group.js').Stream} Stream
 * @typedef {import('../in/contract.js').Packet} Packet
 *
 * @typedef {object} IncomingOptions
 * @property {import('../../gateway/kafka/client.js').Cluster} cluster
 * @property {import('../../gateway/kafka/client.js').KafkaClient} client  for what does not take long
 * @property {string} group
 * @property {string} name  see `MemberOptions`
 * @property {() => void} onDouble  likewise
 * @property {number} window  messages that are not acknowledged at a time, where they are small
 * @property {(packet: Packet, ack: () => void) => void} onMessage
 * @property {(partitions: number[]) => void} onShare  those that this member reads have changed
 * @property {(problem: Error|null) => void} onProblem
 */

/** So long it is taken as known how far the partitions go; who wants to know asks each second. */
const KNOWN_MS = 1900
/** Of messages that are not acknowledged, but for the last of them; a consumer holds as much and more. */
const WINDOW_BYTES = 2 ** 25
/** Where the first of a partition is not acknowledged, so many times the window come behind it. */
const BEHIND = 10

/**
 * The batches that a member of a consumer group is sent: each is acknowledged when its time has come, and the group told up to where all
 * are. What is not comes again, to whoever reads the partition then.
 */
export class Incoming {
  /** @type {Map<Stream, HeldOffsets>} */
  #streams = new Map()
  /** Where they end, when that was last asked. @type {Map<Stream, bigint>} */
  #ends = new Map()
  #endsMs = -Infinity
  #isAsking = false
  /** Messages that have come and wait for room. */
  #waiting = 0
  #room = Promise.withResolvers()
  #member
  #options

  /** @param {IncomingOptions} options */
  constructor (options) {
    this.#options = options
    this.#member = new GroupMember(options.cluster, {
      group: options.group,
      name: options.name,
      onDouble: options.onDouble,
      topics: [STAGE_TOPICS.data.name],
      onAssigned: async assigned => {
        for (const { stream, committed, first } of assigned) {
          this.#streams.set(stream, new HeldOffsets(committed?.offset ?? first, () => this.#onAcknowledged(stream)))
        }
        this.#tell()
      },
      onRevoked: streams => {
        for (const stream of streams) this.#streams.delete(stream)
        this.#makeRoom()
        this.#tell()
      },
      onRecords: async (stream, messages, next) => {
        this.#waiting += messages.length
        for (const { offset, key, value } of messages) {
          await this.#take(stream, offset, { topic: String(key), payload: value ?? EMPTY, qos: 1 })
          this.#waiting--
        }
        this.#advance(stream, next)
      },
      // What is gone is missed in the heads, and requested.
      onGap: (stream, _from, to) => this.#advance(stream, to),
      onProblem: options.onProblem
    })
  }

  /** Whether the brokers may have some that have not come; where it is not known, that is asked. */
  get isBehind () {
    if (this.#waiting > 0 || this.#streams.size === 0) return true
    const isKnown = performance.now() - this.#endsMs < KNOWN_MS
    if (!isKnown) this.#askEnds()
    return !isKnown || [...this.#streams].some(([stream, { next }]) => next < (this.#ends.get(stream) ?? next + 1n))
  }

  async #askEnds () {
    if (this.#isAsking) return
    this.#isAsking = true
    const askedMs = performance.now()
    const { client } = this.#options
    try {
      const topic = await client.topic(STAGE_TOPICS.data.name)
      const bounds = await boundsOf(client, [...this.#streams.keys()], ({ partition }) => topic?.partitions[partition]?.leader ?? -1)
      this.#ends = new Map(Array.from(bounds, ([stream, { end }]) => [stream, end]))
      this.#endsMs = askedMs
    } catch {
      client.forget() // it is asked again
    } finally {
      this.#isAsking = false
    }
  }

  /** What is not acknowledged comes again: nobody may know of it any more. */
  again () {
    for (const held of this.#streams.values()) for (const each of held.unacknowledged) this.#deliver(held, each)
  }

  async close () {
    const closing = this.#member.close()
    this.#streams.clear()
    this.#makeRoom()
    await closing
  }

  /** @param {Stream} stream @param {bigint} offset @param {Packet} packet */
  async #take (stream, offset, packet) {
    const { window } = this.#options
    const held = this.#streams.get(stream)
    const isFull = () => held && (this.#sum('count') >= window || this.#sum('bytes') >= WINDOW_BYTES || held.length >= window * BEHIND)
    while (isFull() && this.#streams.get(stream) === held) await this.#room.promise
    if (held && this.#streams.get(stream) === held) this.#deliver(held, held.hold(offset, packet))
  }

  /** @param {'count'|'bytes'} what */
  #sum (what) {
    let sum = 0
    for (const held of this.#streams.values()) sum += held[what]
    return sum
  }

  /** @param {HeldOffsets} its @param {import('./held-offsets.js').Held} held */
  #deliver (its, held) {
    this.#options.onMessage(/** @type {Packet} */ (held.packet), () => its.acknowledge(held))
  }

  /** @param {Stream} stream @param {bigint} next */
  #advance (stream, next) {
    this.#streams.get(stream)?.advance(next)
    this.#commit(stream)
  }

  /** @param {Stream} stream */
  #onAcknowledged (stream) {
    this.#makeRoom()
    this.#commit(stream)
  }

  /** @param {Stream} stream */
  #commit (stream) {
    const held = this.#streams.get(stream)
    if (held) this.#member.commit(stream, held.position)
  }

  #makeRoom () {
    this.#room.resolve(undefined)
    this.#room = Promise.withResolvers()
  }

  #tell () {
    this.#options.onShare([...this.#streams.keys()].map(({ partition }) => partition))
  }
}

const EMPTY = Buffer.alloc(0)
