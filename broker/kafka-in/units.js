import { hash } from 'node:crypto'
import { Joint } from '../../gateway/batch/join.js'
import { Numbering } from '../../gateway/batch/numbering.js'

/**
 * What of a Kafka topic becomes a batch.
 *
 * A **unit** is what a producer wrote at once: the broker stores it as one, under offsets that never change, and gives it to everybody as
 * one. Whoever reads it, before and after a crash or a rebalance, finds the same bounds; compaction, which may remove records from it,
 * keeps them. So a unit is cut alike by all, without their knowing of each other. Its rows are one batch for each source and shape, and the
 * identity of a batch says nothing that another reader could see otherwise:
 *
 * - gateway: the id of the cluster;
 * - source: of the rows;
 * - epoch: the leader epoch under which the unit was written, the topic's id, the partition, and the shape: names and types of fields, and
 *   names of tags. A topic that is created again has another id. A log that lost its end goes on under a higher leader epoch;
 * - seq: the offset of the unit, of its first record, whether that is still there or not.
 *
 * A unit of several sources or shapes is several batches; each is stored on its own, and the offset is committed behind all of them.
 *
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/kafka/group.js').KafkaMessage} KafkaMessage
 * @typedef {import('../../gateway/kafka/group.js').Stream} Stream
 */

const SHAPE_LETTERS = 8

/**
 * @param {Stream} stream
 * @param {KafkaMessage} message  any one of the unit
 * @param {Iterable<Batch>} batches  what its messages have, in their order
 * @param {string} gateway
 * @returns {Batch[]} with identities
 */
export function identified ({ topicId, partition }, { leaderEpoch, within }, batches, gateway) {
  const id = Buffer.from(topicId.replaceAll('-', ''), 'hex').toString('base64url')
  /** @type {Map<string, {shape: string, joint: Joint}>} */
  const joints = new Map()
  for (const batch of batches) {
    if (batch.rows === 0) continue
    const shape = shapeOf(batch)
    const key = JSON.stringify([batch.source, shape])
    const { joint } = joints.get(key) ?? { joint: new Joint() }
    joints.set(key, { shape, joint })
    joint.add(batch)
  }
  const numbering = new Numbering()
  return Array.from(joints.values(), ({ shape, joint }) => {
    const batch = numbering.numbered(joint.batch())
    const epoch = `${leaderEpoch}-${id}.${partition}.${hash('sha256', shape, 'base64url').slice(0, SHAPE_LETTERS)}`
    return batch.withIdentity({ gateway, source: batch.source, epoch, seq: Number(within.first), rows: batch.rows })
  })
}

/**
 * What all epochs of a stream, or of a whole topic, have in common, behind the leader epoch.
 * @param {{topicId: string, partition?: number}} of
 */
export function isEpochOf ({ topicId, partition }) {
  const mark = `-${Buffer.from(topicId.replaceAll('-', ''), 'hex').toString('base64url')}.${partition === undefined ? '' : `${partition}.`}`
  return (/** @type {string} */ epoch) => epoch.slice(epoch.indexOf('-')).startsWith(mark)
}

/** @param {Batch} batch */
function shapeOf ({ fields, tags }) {
  return JSON.stringify([fields.map(({ name, type, unit }) => [name, type, unit]), Object.keys(tags)])
}
