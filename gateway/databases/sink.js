/**
 * The contract of a sink. A sink is a module under `gateway/databases/<type>/` whose `sink.js` exports `schema`, `isTransient` and `open`;
 * it knows one database and nothing of MQTT, Node-RED or retrying: the writer owns all that is alike.
 *
 * @typedef {import('../batch/batch.js').Batch} Batch
 *
 * @typedef {object} SinkModule
 * @property {object} schema  JSON Schema of the options, defaults, units and help included; without those of the server
 * @property {(error: unknown) => boolean} isTransient  true when the same rows may be stored later: connection lost, deadlock, disk full,
 *   wrong password, missing permission. False only when the rows themselves are at fault; those the writer isolates as dead letters
 * @property {(options: any, context: {server: any, log?: Log}) => Promise<Sink>} open  `server` is what the same database's `connect` gives
 *   (see ServerModule), where it has one; it stays its owner's to close
 *
 * @typedef {object} Sink
 * @property {(batches: Batch[], options?: {forMs?: number}) => Promise<Batch[]|void>} prepare  creates what these batches need and is
 *   missing: table, index, added column; cheap when nothing is missing; refuses batches that do not fit their table with
 *   SLUICE_SINK_TABLE_MISFIT (not transient). Once so much time has passed it goes on with no other table, and returns the batches whose
 *   tables are yet to be prepared: never all of them
 * @property {() => Progress|null} [preparing]  how far it is with tables; null where none are yet to be prepared
 * @property {() => Promise<Committed>} committed  what the database itself reports as stored
 * @property {(batches: Batch[], options?: {signal?: AbortSignal, probe?: boolean}) => Promise<WriteResult>} write
 *   stores all rows and one commit record per identified batch, or nothing, in one transaction. A batch that is stored already is left out
 *   and reported, see `claims.js`. A batch of no rows leaves its record only. With `probe` it does all that and rolls back.
 *   Where a record is gone that this sink had committed, nothing is stored: SLUICE_SINK_SET_BACK (transient), see `set-back.js`.
 *   Where a database has no transactions, the rows' own keys make writing them again harmless: the records follow the rows, what was stored
 *   of a failed write stays and is met again, and a probe writes the rows without a record. Such a sink, or one that learns from
 *   the database which rows it refuses, may throw RefusedRows.
 * @property {(heads: Head[]) => Promise<void>} compact  merges commit records below what the spool still holds
 * @property {() => Promise<Span|null>} [span]  of the rows that may be removed; null where there are none. Those are in tables that Sluice
 *   made, or that have its mark: SLUICE_SINK_NOT_OWNED where rows are stored elsewhere
 * @property {(before: bigint, most: {maxRows: number}) => Promise<number>} [removeBefore]  removes rows whose time is before this, after
 *   `span` has looked for them: at most about so many, in transactions of their own. Commit records stay, so that their batches count as
 *   stored. Returns how many; fewer than `maxRows` when no more are there, 0 where the database does not tell
 * @property {() => string} [notice]  what a user must not overlook while all goes well: that it may lose, and how much it has lost, or may
 *   store twice
 * @property {() => Promise<void>} close
 *
 * @typedef {{done: number, of: number, lastMs: number}} Progress  `lastMs`: when it began, or the last one was done, by performance.now()
 *
 * @typedef {object} ServerModule  `gateway/databases/<type>/connection.js`, of a database that is a server
 * @property {object} schema  JSON Schema of how to reach it and log in
 * @property {(options: any, context?: {log?: Log}) => Server} connect  nothing is connected before it is needed
 *
 * @typedef {object} Server  one server's connections, which all sinks and queries share
 * @property {(options?: {signal?: AbortSignal}) => Promise<string>} test  connects and logs in; reports in a sentence what it found and
 *   what a sink could do with it. Rejects with a SluiceError whose `fix` is what to do; ends by itself within 15 s
 * @property {() => Promise<void>} close
 *
 * @typedef {{duplicates: Batch[], clashes: Batch[]}} WriteResult  `clashes`: another batch is stored under the same identity
 * @typedef {{store: string, records: CommitRecord[], isSetBack?: boolean}} Committed  `store` is a random id, kept beside the commit
 *   records, that names the database itself; the records are sorted by gateway, source, epoch and `first`, and not merged; `isSetBack`:
 *   this reading has found that something is gone which this sink had committed
 *
 * @typedef {{oldest: bigint, newest: bigint}} Span  of rows, their times
 *
 * @typedef {object} CommitRecord  of batches `first`…`last` of an epoch
 * @property {string} gateway
 * @property {string} source
 * @property {string} epoch
 * @property {number} first
 * @property {number} last
 * @property {number} hash  the sum of their hashes, see `gateway/batch/hashes.js`
 * @property {number} staged  rows
 * @property {number} stored  rows in the table
 * @property {number} dead  rows that are dead letters. What was staged and is neither has been settled by a flow
 * @property {number} before  rows of the source that were produced before these
 *
 * @typedef {{gateway: string, source: string, epoch: string, first: number, last: number, sparseFrom?: number}} Head  what a spool holds of
 *   an epoch; `last` is -1 of an empty one. `sparseFrom`: what is missing between it and `first` never was there, or is dealt with
 * @typedef {import('../base/log.js').Log} Log
 */

export {}
