import { VERSION } from './spool/record.js'
import { STATE_VERSION } from './spool/saved.js'

/**
 * The formats of what Sluice keeps, on disk and in databases: the version that it writes, and those that it reads. Another release takes
 * over what this one has written only if it reads that version; `release.json` says so of each release. Whoever changes a format so that
 * what has been released cannot read it gives it the next number, here or where it is defined.
 * @type {Readonly<Record<string, {writes: number, reads: number[]}>>}
 */
export const FORMATS = Object.freeze({
  /** Segments: spool/record.js. */
  spool: { writes: VERSION, reads: [VERSION] },
  /** What a spool knows besides: spool/saved.js. */
  'spool-state': { writes: STATE_VERSION, reads: [STATE_VERSION] },
  /** Batches in segments and messages, and what gateways tell each other: docs/protocol.md. */
  protocol: { writes: 2, reads: [2] },
  /** Of sinks, in their databases: gateway/databases/commit-records.js. Those of 0.1 were 1. */
  'commit-records': { writes: 2, reads: [2] },
  /** gateway/databases/file/journal.js */
  'file-journal': { writes: 1, reads: [1] },
  /** gateway/dead-letters/queue.js */
  'dead-letters': { writes: 1, reads: [1] },
  /** Of third-party messages: in/receipts.js. */
  receipts: { writes: 1, reads: [1] }
})
