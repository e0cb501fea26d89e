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
 * @property {bigint|null} committed  the offset to go on from, as the group has committed it for this topic id; null where it has not
 * @property {bigint} first  of what the brokers still have
 * @property {bigint} end  the offset after the last one that was committed by its writer
 *
 * @typedef {object} KafkaMessage
 * @property {bigint} offset
 * @property {number} leaderEpoch  under which it was written
 * @property {Buffer|null} key
 * @property {Buffer|null} value
 * @property {[Buffer, Buffer|null][]} headers
 * @property {bigint} timestamp  milliseconds since 1970
 *
 * @typedef {object} MemberOptions
 * @property {string} group
 * @property {string[]|RegExp} topics  names, or what names match
 * @property {(assigned: Assigned[]) => Promise<(bigint|undefined)[]|void>} onAssigned  tells the offset each begins with; undefined:
 *   where the group has committed to, otherwise at the first
 * @property {(streams: Stream[], why: {isLost: boolean}) => Promise<void>|void} onRevoked  what is committed until it resolves still counts,
 *   unless they are lost: others may read them already
 * @property {(stream: Stream, messages: KafkaMessage[], next: bigint) => Promise<void>|void} onRecords  `next` is the offset to go on with: not
 *   always that after the last message, as what was undone, or compacted away, has offsets as well. There may be no messages at all
 * @property {(stream: Stream, from: bigint, to: bigint) => Promise<void>|void} onGap  what the brokers have deleted before it was read: offsets
 *   from `from` to before `to`
 * @property {(problem: Error|null) => void} onProblem
 */
