/**
 * How requests and replies are framed on a connection. One object for each connection, without timers: it knows the requests on their way,
 * and which of them a reply is to.
 *
 * @typedef {object} Exchange  a request on its way
 * @property {number} unit
 * @property {import('./pdu.js').Request} request
 *
 * @typedef {{exchange: Exchange, answer: import('./pdu.js').Answer}|{lost: string}} Arrival  `lost`: why nothing more can be made of what
 *   this connection says
 *
 * @typedef {object} Framing
 * @property {number} capacity  most exchanges at a time
 * @property {(exchange: Exchange) => Uint8Array} start  the frame to send
 * @property {(exchange: Exchange) => void} end  its reply is no longer awaited
 * @property {(chunk: Uint8Array) => Arrival[]} receive  what is no reply to anything awaited is dropped; where nothing tells replies apart,
 *   one request may get several
 * @property {() => {text: string, isWhole: boolean}|null} complaint  of what came instead of the reply that is awaited; whole: a frame's
 *   worth
 * @property {() => void} reset  for a new connection
 */

export {}
