/**
 * What staging needs of a client of a broker: a client of MQTT.js is one (connection/connection.js), a link to a Kafka cluster another
 * (kafka/link.js). Whatever a broker does, it may lose, repeat and reorder.
 *
 * @typedef {'connect'|'close'|'error'|'message'|'packetsend'|'packetreceive'} ClientEvent  `connect` ({sessionPresent}); `close`: also of
 *   an attempt in vain; `message` (topic, payload, {retain}); the others only where a broker may end a connection for a message
 * @typedef {{topic: string, qos: number}} Granted
 * @typedef {{qos: 0|1, retain?: boolean, properties?: {contentType?: string}}} PublishOptions
 *
 * @typedef {object} BrokerClient
 * @property {boolean} connected
 * @property {boolean} [isBehind]  the broker has batches that have not come yet: that no more come says nothing
 * @property {{clientId?: string, protocolVersion?: number}} options  `protocolVersion`: 5 where messages have properties
 * @property {{maximumPacketSize?: number}} [serverProperties]
 * @property {(topic: string, payload: string|Buffer, options: PublishOptions, callback?: (error?: any) => void) => void} publish  what is
 *   not acknowledged when a connection ends is sent again with the next
 * @property {(topics: string[], options: {qos: 1}, callback: (error: Error|null, granted?: Granted[]) => void) => void} subscribe  what
 *   is retained comes each time
 * @property {(topics: string[], options: {qos: 1}) => Promise<unknown>} subscribeAsync
 * @property {(topic: string) => unknown} unsubscribe
 * @property {(event: ClientEvent, listener: (...args: any[]) => void) => unknown} on
 * @property {(event: ClientEvent, listener: (...args: any[]) => void) => unknown} off
 * @property {(event: ClientEvent, listener: (...args: any[]) => void) => unknown} once
 * @property {(messageId: number) => unknown} removeOutgoingMessage
 *
 * @typedef {object} BrokerConnection
 * @property {BrokerClient} client
 * @property {string} place  the broker's address, for messages
 * @property {import('../gateway/base/errors.js').SluiceError|null} problem  what keeps the client from its broker now
 * @property {(onMessage: (packet: import('./in/contract.js').Packet, ack: () => void) => void) => unknown} receive  takes over the
 *   messages: each is acknowledged by calling `ack`, at any time. To be called before the client has connected
 * @property {(options?: {patienceMs?: number}) => Promise<void>} close
 */

export {}
