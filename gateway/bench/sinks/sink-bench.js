/**
 * What the bench of the sinks needs to know of a database, beside its sink. A module `gateway/bench/sinks/<type>.js` exports `bench`, a
 * SinkBench or several.
 *
 * All store the same rows, those of `narrow-rows.js` (time, sensor int32, value float64; batches with identity), into equal tables with
 * equal indexes, with equal durability where the rival can have it.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../servers.js').Servers} Servers
 *
 * @typedef {object} SinkBench
 * @property {string} title  of the table, with the layout: "MariaDB, narrow, index on time and sensor"
 * @property {(servers: Servers) => string|null} missing  why it cannot be measured here, null when it can
 * @property {(folder: string, servers: Servers) => Promise<Running>} start  the server, empty, its files below `folder` where it is
 *   started; rejects with SLUICE_BENCH_NOT_EMPTY where it is the user's own and not empty
 * @property {number} [goalRowsPerSecond]  a published best single figure that our best cell is to exceed
 * @property {string} [note]  what a reader of the figures must know: "points are fields, two a row"
 *
 * @typedef {object} Running
 * @property {string} version  of the server: "MariaDB 10.11.14"
 * @property {string} [settings]  that matter, as the server itself tells them: "fsync on, shared_buffers 128MB"
 * @property {string} [note]  of this server, instead of the database's
 * @property {import('./open.js').SinkAddress} address  of our sink
 * @property {import('../servers.js').WatchedServer} [watched]  what of the server can be watched; of an embedded database, the data alone
 * @property {() => Promise<void>} clear  removes all rows and commit records; called while no sink is open
 * @property {() => Promise<number|null>} count  the rows that are stored, waiting for those that are still to become visible; null where
 *   nothing is
 * @property {Loader|null} loader  the database's own bulk loader
 * @property {Naive|null} naive  the popular Node-RED node's way, or a plain client's loop: an insert a message, awaited where that awaits
 * @property {() => Promise<void>} remove  what the bench has stored, and the server where it was started
 *
 * @typedef {{name: string, run: Run}} Loader
 * @typedef {{name: string, rows: number, run: Run}} Naive  `rows`: as many as take some seconds, which are what `run` is given
 *
 * @typedef {(batches: Batch[]) => Promise<number>} Run  stores the batches' rows into the cleared database (creating the table, before the
 *   clock starts, where it is missing) and returns the seconds of the load itself, without writing a loader's file and without starting a
 *   client's process where that takes longer than a load
 */

export {}
