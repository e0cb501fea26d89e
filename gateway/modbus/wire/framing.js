/**
 * How requests and replies are framed on a connection. One object for each connection, without timers: it knows the pending requests, and
 * which of them a reply answers.
 *
 * @typedef {object} Exchange  a pending request
 * @property {number} unit
 * @property {import('./pdu.js').Request} request
 *
 * @typedef {{exchange: Exchange, answer: import('./pdu.js').Answer}|{lost: string}} Arrival  `lost`: why the stream of this connection can
 *   no longer be read
 *
 * @typedef {object} Framing
 * @property {number} capacity  the most exchanges at a time
 * @property {(exchange: Exchange) => Uint8Array} start  the frame to send
 * @property {(exchange: Exchange) => void} end  its reply is no longer awaited
 * @property {(chunk: Uint8Array) => Arrival[]} receive  bytes that answer no pending request are dropped; where nothing distinguishes
 *   replies, one request may get several
 * @property {() => {text: string, isWhole: boolean}|null} complaint  about what came instead of the pending reply; `isWhole`: a complete
 *   frame
 * @property {() => void} reset  for a new connection
 */

export {}
