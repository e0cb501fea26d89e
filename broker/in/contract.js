/**
 * What the consumer needs of the part of the gateway that it hands batches to. `gateway/flow/` provides it.
 *
 * @typedef {{topic: string, payload: Buffer, qos?: number, retain?: boolean, properties?: {contentType?: string}}} Packet  a message from
 *   the broker
 *
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 *
 * @typedef {object} WiredSink  a sink behind a stage in
 * @property {string} id  of its node
 * @property {string} sink  as the consumer's topics call it
 * @property {string} label
 * @property {boolean} [isDisabled]  it is required all the same, and gets what it lacks once it is enabled again
 *
 * @typedef {object} SinkHandle  a running sink
 * @property {string} id  of its node
 * @property {string} name  a label
 * @property {() => Promise<import('../../gateway/databases/sink.js').Committed>} committed
 * @property {(batch: Batch) => Promise<unknown>} write  resolves once the database has committed it
 * @property {(heads: import('../../gateway/databases/sink.js').Head[]) => Promise<void>} compact
 *
 * @typedef {'added'|'removed'|'leaving'|'setBack'} SinkEvent
 * @typedef {object} Sinks  the sinks that run in this process, by id
 * @property {(id: string) => SinkHandle|undefined} get
 * @property {(event: SinkEvent, listener: (...args: any[]) => void) => unknown} on  `added` (handle), `removed` (id); `leaving` (id): its
 *   last reading has begun; `setBack` (id): its database lacks what it had committed
 * @property {(event: SinkEvent, listener: (...args: any[]) => void) => unknown} off
 * @property {(id: string) => Promise<import('../../gateway/databases/sink.js').Committed>|undefined} lastReading  of a sink that has gone
 *   lately: what it had stored then
 *
 * @typedef {object} Sharing  which gateways or sources are a reader's, where several of a group share them
 * @property {boolean} areSeveral  it has to subscribe to its own gateways only
 * @property {[member: number, members: number]|undefined} place  as the list of its sinks says
 * @property {(gateway: string, source?: string) => boolean} has  whether it is to read them; without a source, whether it may be
 * @property {(sinks: string[], gateway: string, source: string) => string} flawOf  what the user should know; '' where all is well
 * @property {() => void} connected  what others say comes again
 * @property {(reader: string, list: import('../control-messages.js').SinkList|null) => void} heard  of another reader of the group
 * @property {(listener: () => void) => () => void} onMoved  some are its own now, or are no more; returns what ends that
 *
 * @typedef {object} DeliveryOptions
 * @property {string} id
 * @property {Batch} batch  with its identity
 * @property {string[]} sinks  ids of those that must settle it
 * @property {(sink: string, record: Batch) => Promise<boolean|void>} mark  stores a commit record of no rows, however long it takes; never
 *   rejects. False: it is not left, since the sink's database has lost what it had stored
 * @property {() => void} [onStored]  all that has reached its sinks is stored; it is finished once nothing more has come for a while
 * @property {() => void} [onOpened]  a sink's database has lost what it had stored of it: it is to go into the flow again
 * @property {(sink: string) => void} [onPostponed]  the sink can store nothing of it for now, and has let it go
 * @property {(sink: string) => void} onFinished  the sink has finished with it
 *
 * @typedef {object} Delivery  a batch on its way through the flow to its sinks
 * @property {string} id
 * @property {string} attemptId  what a message of the attempt begun last carries
 * @property {Batch} batch
 * @property {Identity} identity
 * @property {Map<string, {state: 'open'|'marking'|'finished'}>} sinks
 * @property {boolean} finished  every sink is
 * @property {boolean} idle  no sink has anything of it to store or waits for more, yet it is not finished
 * @property {boolean} waiting  some sink is not finished, and only another attempt can bring what it lacks
 * @property {number} attempts  how often it went into the flow since a sink last released a piece of it
 * @property {number} activeAtMs  monotonic
 * @property {() => void} begin  it goes into the flow, perhaps again
 * @property {() => void} doubt  what the flow has of it may be lost
 * @property {(sink: string) => void} recorded  the sink's database has its commit record
 *
 * @typedef {object} Deliveries
 * @property {(options: DeliveryOptions) => Delivery} open
 * @property {(id: string) => void} close
 */

export {}
