import {
  cooperativeStickyAssigner, COOPERATIVE_STICKY_ASSIGNOR, decodeConsumerProtocolAssignment, decodeConsumerProtocolSubscription,
  describeGroupsV5, encodeConsumerProtocolAssignment, encodeConsumerProtocolSubscription, FindCoordinatorKeyTypes, findCoordinatorV4,
  heartbeatV4, joinGroupV7, leaveGroupV4, offsetCommitV8, offsetFetchV8, syncGroupV5
} from '@platformatic/kafka'
import { isAnswer, isAnswered } from './client.js'

/**
 * What a member and its group's coordinator say to each other. Rebalances are cooperative: what does not move goes on being read. A
 * partition that moves is given up first, and goes to another member in the rebalance after that.
 *
 * @typedef {import('./client.js').KafkaClient} KafkaClient
 * @typedef {import('./client.js').Topic} Topic
 * @typedef {{topic: string, partitions: number[]}} Assignment
 * @typedef {{topic: string, topicId: string, partition: number}} Stream
 * @typedef {{offset: bigint, leaderEpoch: number, note: string}} Committed
 */

/** How long a rebalance waits for members. Less than a broker has for an answer. */
const REBALANCE_MS = 20_000

const PROTOCOL_VERSION = 3
const PROTOCOL_TYPE = 'consumer'

/** Others have, or will have, what this one had. */
const LOST = ['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID']
const ELSEWHERE = ['NOT_COORDINATOR', 'COORDINATOR_NOT_AVAILABLE', 'COORDINATOR_LOAD_IN_PROGRESS']

/** @param {unknown} error */
export function isLost (error) {
  return isAnswer(error, ...LOST)
}

/** @param {unknown} error */
export function isRebalance (error) {
  return isAnswer(error, 'REBALANCE_IN_PROGRESS')
}

/** Whether a coordinator is just beginning, or another one is to be found. @param {unknown} error */
export function isElsewhere (error) {
  return isAnswer(error, ...ELSEWHERE)
}

export class Membership {
  #client
  #group
  #sessionMs
  /** @type {number|null} */
  #coordinator = null
  #memberId = ''
  #generation = -1
  #validUntil = -Infinity

  /** @param {KafkaClient} client  a rebalance holds up what is asked after it @param {string} group @param {number} sessionMs */
  constructor (client, group, sessionMs) {
    this.#client = client
    this.#group = group
    this.#sessionMs = sessionMs
  }

  /** Whether the coordinator cannot have taken it for dead yet. */
  get isValid () { return performance.now() < this.#validUntil }

  /**
   * Returns when all members have joined.
   * @param {string[]} topics
   * @param {Assignment[]} owned
   * @returns {Promise<{assigned: Assignment[], shared: Map<string, number>|null}>}  `shared`: of the leader, topics with their partitions
   *   as it has shared them out
   */
  async join (topics, owned) {
    const joined = await this.#joined(topics, owned)
    const { protocolName, leader, members } = joined
    this.#generation = joined.generationId
    const isLeader = leader === this.#memberId
    const { assignments, shared } = isLeader ? await this.#share(members) : { assignments: [], shared: null }
    const { assignment } = await this.#askAsMember(
      syncGroupV5.api, this.#group, this.#generation, this.#memberId, null, PROTOCOL_TYPE, protocolName, assignments)
    return { assigned: decodeConsumerProtocolAssignment(assignment).assignedPartitions, shared }
  }

  heartbeat () {
    return this.#askAsMember(heartbeatV4.api, this.#group, this.#generation, this.#memberId, null)
  }

  /** @param {Map<Stream, Committed>} offsets */
  async commit (offsets) {
    const topics = Array.from(Map.groupBy(offsets.keys(), ({ topic }) => topic), ([name, streams]) => ({
      name,
      partitions: streams.map(stream => {
        const { offset, leaderEpoch, note } = /** @type {Committed} */ (offsets.get(stream))
        // A topic that is created again has the same name, and other offsets.
        const committedMetadata = `${stream.topicId} ${note}`
        return { partitionIndex: stream.partition, committedOffset: offset, committedLeaderEpoch: leaderEpoch, committedMetadata }
      })
    }))
    await this.#askAsMember(offsetCommitV8.api, this.#group, this.#generation, this.#memberId, null, topics)
  }

  /**
   * Of those that have one.
   * @param {Stream[]} streams
   * @returns {Promise<Map<Stream, Committed>>}
   */
  async committed (streams) {
    const wanted = Array.from(Map.groupBy(streams, ({ topic }) => topic), ([name, its]) => {
      return { name, partitionIndexes: its.map(({ partition }) => partition) }
    })
    const { groups: [{ topics }] } = await this.#ask(offsetFetchV8.api, [{ groupId: this.#group, topics: wanted }], true)
    const found = new Map()
    for (const { name, partitions } of topics) {
      for (const { partitionIndex, committedOffset, committedLeaderEpoch, metadata } of partitions) {
        const stream = streams.find(({ topic, partition }) => topic === name && partition === partitionIndex)
        if (!stream || committedOffset < 0n) continue
        const [topicId, note = ''] = (metadata ?? '').split(' ')
        // Others than Sluice do not say of which topic it is.
        if (topicId.length !== stream.topicId.length || topicId === stream.topicId) {
          found.set(stream, { offset: committedOffset, leaderEpoch: committedLeaderEpoch, note })
        }
      }
    }
    return found
  }

  /** The ids of other members whose client has the name of this one. @returns {Promise<string[]>} */
  async namesakes () {
    const { groups: [{ members }] } = await this.#ask(describeGroupsV5.api, [this.#group], false)
    const own = members.find((/** @type {{memberId: string}} */ { memberId }) => memberId === this.#memberId)
    return members.filter((/** @type {any} */ each) => own && each !== own && each.clientId === own.clientId)
      .map((/** @type {{memberId: string}} */ { memberId }) => memberId)
  }

  /** Of its own will, so that others need not wait for it. */
  async leave () {
    const memberId = this.#memberId
    if (memberId === '') return
    this.#forget()
    await this.#ask(leaveGroupV4.api, this.#group, [{ memberId, groupInstanceId: null }])
  }

  #forget () {
    this.#memberId = ''
    this.#generation = -1
    this.#validUntil = -Infinity
  }

  /** @param {string[]} topics @param {Assignment[]} owned */
  async #joined (topics, owned) {
    const metadata = encodeConsumerProtocolSubscription({
      version: PROTOCOL_VERSION, topics, ownedPartitions: owned, generationId: this.#generation, rackId: null
    })
    const protocols = [{ name: COOPERATIVE_STICKY_ASSIGNOR, metadata }]
    const join = () => {
      return this.#ask(joinGroupV7.api, this.#group, this.#sessionMs, REBALANCE_MS, this.#memberId, null, PROTOCOL_TYPE, protocols)
    }
    const joined = await join().catch(error => {
      if (!isAnswer(error, 'MEMBER_ID_REQUIRED')) throw error
      this.#memberId = error.response.memberId
      return join()
    })
    this.#memberId = joined.memberId
    return joined
  }

  /** As the leader. @param {{memberId: string, metadata: Buffer}[]} given */
  async #share (given) {
    const members = new Map(given.map(({ memberId, metadata }) => {
      return [memberId, { memberId, ...decodeConsumerProtocolSubscription(metadata) }]
    }))
    const names = new Set([...members.values()].flatMap(({ topics }) => topics))
    const topics = await this.#client.topics([...names])
    const shared = new Map(Array.from(topics, ([name, { partitions }]) => [name, partitions.length]))
    const counted = { topics: new Map(Array.from(shared, ([name, partitionsCount]) => [name, { partitionsCount }])) }
    const assigned = cooperativeStickyAssigner(this.#memberId, /** @type {any} */ (members), names, /** @type {any} */ (counted))
    const assignments = assigned.map(({ memberId, assignments: its }) => ({
      memberId,
      assignment: encodeConsumerProtocolAssignment({ version: PROTOCOL_VERSION, assignedPartitions: [...its.values()] })
    }))
    return { assignments, shared: new Map([...names].map(name => [name, shared.get(name) ?? 0])) }
  }

  /** What the coordinator takes for a sign of life. @param {import('./client.js').Api} api @param {...any} args */
  async #askAsMember (api, ...args) {
    const sentAt = performance.now()
    const answer = await this.#ask(api, ...args)
    this.#validUntil = sentAt + this.#sessionMs
    return answer
  }

  /** @param {import('./client.js').Api} api @param {...any} args */
  async #ask (api, ...args) {
    try {
      return await this.#client.ask(api, this.#coordinator ??= await this.#find(), ...args)
    } catch (error) {
      if (!isAnswered(error) || isElsewhere(error)) this.#coordinator = null
      if (isLost(error)) this.#validUntil = -Infinity
      if (isAnswer(error, 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID')) this.#forget()
      throw error
    }
  }

  async #find () {
    this.#client.forget()
    const { coordinators: [found] } = await this.#client.ask(findCoordinatorV4.api, -1, FindCoordinatorKeyTypes.GROUP, [this.#group])
    return found.nodeId
  }
}
