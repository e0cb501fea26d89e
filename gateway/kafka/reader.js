/**
 * Reads all of a topic, from its beginning and on, and without a group: everybody who does gets everything.
 *
 * @typedef {import('./group.js').KafkaMessage} KafkaMessage
 *
 * @typedef {object} ReaderOptions
 * @property {string} topic
 * @property {'earliest'|'latest'} [from]
 * @property {() => void} onReset  what was read does not count: the topic is another one now, or was set back. It is read again
 * @property {(messages: KafkaMessage[], partition: number) => Promise<void>|void} onRecords
 * @property {() => void} onRead  all that was in the topic when reading began, or began again, has been read
 * @property {(problem: Error|null) => void} onProblem
 */
