/**
 * The contract of alarms: what is wrong with the gateway, since when, and what to do. `gateway/alarms/` judges them from the stats, which
 * show them to all who read.
 *
 * @typedef {'warning'|'problem'} Level
 * @typedef {{type: 'source'|'sink'|'stage'|'broker'|'node'|'machine', name: string, nodeId?: string}} Subject  `nodeId`: of the node in
 *   the flow, where there is one
 *
 * @typedef {object} Alarm  plain JSON; times in milliseconds since 1970
 * @property {string} id  of kind and subject: the same whenever it is raised
 * @property {string} kind  never changes: programs go by it
 * @property {Level} level
 * @property {Subject} subject
 * @property {string} what  a sentence of at most 100 characters, without a code
 * @property {string} [reason]  as it was told, with its code
 * @property {string} fix
 * @property {Partial<Record<'what'|'reason'|'fix', import('./phrases.js').Phrase>>} [phrases]  the same for other languages
 * @property {number} raisedMs  since when it is so
 * @property {number|null} clearedMs
 * @property {number|null} acknowledgedMs  somebody has seen it
 * @property {true} [isFromBefore]  it was so before a restart, and is not known to be so since
 *
 * @typedef {'raised'|'cleared'|'acknowledged'} Change  an alarm is raised again when it gets worse after it was acknowledged
 * @typedef {(alarm: Alarm, change: Change) => void} Listener
 *
 * @typedef {object} AlarmList
 * @property {Alarm[]} active  problems first, then the newest
 * @property {Alarm[]} recent  the last that were cleared, newest first
 * @property {Map<string, number>} raised  how often each kind has been since the process started
 * @property {(id: string) => Alarm|null} acknowledge  null where no such alarm is raised
 * @property {(listener: Listener) => (() => void)} onChange  the function it returns ends it
 */
export {}
