import { FetchIsolationLevels, listOffsetsV7 } from '@platformatic/kafka'

/**
 * @typedef {import('./client.js').KafkaClient} KafkaClient
 * @typedef {{topic: string, partition: number}} Place
 */

/** Instead of a time. */
const [FIRST, END] = [-2n, -1n]
const NOBODY = -1

/**
 * What brokers have of partitions: the first offset, and the one after the last that a reader may see. A leader that has just begun, and
 * does not know yet how far the others are, refuses to say.
 * @template {Place} P
 * @param {KafkaClient} client
 * @param {P[]} places
 * @param {(place: P) => number|undefined} leaderOf
 * @param {number} [isolation]  of the reader
 * @returns {Promise<Map<P, {first: bigint, end: bigint}>>}
 */
export async function boundsOf (client, places, leaderOf, isolation = FetchIsolationLevels.READ_COMMITTED) {
  const byLeader = Map.groupBy(places, place => leaderOf(place) ?? NOBODY)
  const bounds = await Promise.all(Array.from(byLeader, async ([leader, its]) => {
    const [first, end] = await Promise.all([FIRST, END].map(time => listed(client, leader, { its, time, isolation })))
    return its.map(place => /** @type {const} */ ([place, { first: of(first, place), end: of(end, place) }]))
  }))
  return new Map(bounds.flat())
}

/** @param {KafkaClient} client @param {number} leader @param {{its: Place[], time: bigint, isolation: number}} asked */
function listed (client, leader, { its: places, time: timestamp, isolation }) {
  const topics = Array.from(Map.groupBy(places, ({ topic }) => topic), ([name, its]) => {
    return { name, partitions: its.map(({ partition }) => ({ partitionIndex: partition, currentLeaderEpoch: -1, timestamp })) }
  })
  return client.ask(listOffsetsV7.api, leader, NOBODY, isolation, topics)
}

/** @param {any} answer @param {Place} place @returns {bigint} */
function of ({ topics }, { topic, partition }) {
  const { partitions } = topics.find((/** @type {any} */ { name }) => name === topic)
  return partitions.find((/** @type {any} */ { partitionIndex }) => partitionIndex === partition).offset
}
