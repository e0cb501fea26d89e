/**
 * @typedef {import('./ledger.js').Place} Place
 *
 * @typedef {object} Store  a database that the sink's rows are read from: tables named as the sources, columns named as fields and tags
 * @property {() => Promise<string[]>} tables  that hold rows
 * @property {(table: string) => Promise<number>} count
 * @property {(table: string) => AsyncIterable<string>} read  the key of every row (see row-key.js)
 * @property {(source: string, place: {epoch: string, seq: number}) => Promise<boolean>} hasCommit  whether the batch's commit record is
 *   there
 * @property {() => Promise<void>} close
 *
 * @typedef {object} Verdict  rows
 * @property {number} stored
 * @property {number} lost  produced more often than stored, without a reason or not reported by the gateway as lost
 * @property {number} countedLost  likewise, but reported
 * @property {number} doubled  stored more often than produced
 * @property {number} [repeated]  likewise, of rows that a flow has changed: these are stored at least once
 * @property {string[]} findings  some of them, a line each
 */

const MAX_FINDINGS = 10

/** @param {Store} store */
export async function countRows (store) {
  let count = 0
  for (const table of await store.tables()) count += await store.count(table)
  return count
}

/**
 * Holds every row in a database against what was produced: time to the nanosecond, every value, as often.
 * @param {import('./ledger.js').Ledger} ledger
 * @param {Store} store
 * @param {Record<string, number>} [reported]  the rows that the gateway itself says this database lacks for good, by source
 * @param {number} [excusedUntilMs]  of what was produced until then, some may be missing
 * @returns {Promise<Verdict>}
 */
export async function check (ledger, store, reported, excusedUntilMs = 0) {
  const tables = new Set(await store.tables())
  /** @type {Verdict} */
  const verdict = { stored: await countRows(store), lost: 0, countedLost: 0, doubled: 0, findings: [] }
  for (const source of new Set([...ledger.sources, ...tables])) {
    const balance = await balanceOf(ledger.read(source), tables.has(source) ? store.read(source) : [])
    let missing = 0
    let excused = 0
    for (const [key, count] of balance) {
      if (count < 0) verdict.doubled -= count
      else missing += count
      if (count > 0 && msOf(key) <= excusedUntilMs) excused += count
    }
    const said = reported?.[source] ?? 0
    const counted = Math.min(excused, said)
    verdict.countedLost += counted
    verdict.lost += missing - counted
    if (reported && missing !== said) verdict.findings.push(`${source}: ${missing} rows are missing; the gateway reports ${said} as lost`)
    if (balance.size > 0) verdict.findings.push(...await describeAll(source, balance, ledger, store))
  }
  return verdict
}

/** When a row was produced. @param {string} key */
function msOf (key) { return Number(BigInt(key.split(' ', 1)[0]) / 1_000_000n) }

/**
 * How much more often a row was produced than stored; without those of which it was as often.
 * @param {AsyncIterable<{key: string}>} produced
 * @param {AsyncIterable<string>|Iterable<string>} stored
 */
async function balanceOf (produced, stored) {
  /** @type {Map<string, number>} */
  const balance = new Map()
  const add = (/** @type {string} */ key, /** @type {number} */ change) => {
    const count = (balance.get(key) ?? 0) + change
    if (count === 0) balance.delete(key)
    else balance.set(key, count)
  }
  for await (const { key } of produced) add(key, 1)
  for await (const key of stored) add(key, -1)
  return balance
}

/** @param {string} source @param {Map<string, number>} balance @param {import('./ledger.js').Ledger} ledger @param {Store} store */
async function describeAll (source, balance, ledger, store) {
  const shown = new Map([...balance].slice(0, MAX_FINDINGS))
  /** @type {Map<string, Place>} */
  const places = new Map()
  for await (const { key, place } of ledger.read(source)) if (shown.has(key)) places.set(key, place)

  const findings = []
  for (const [key, count] of shown) {
    const place = places.get(key)
    const what = count > 0 ? `lost ${count} ×` : `${-count} × too often`
    const where = place
      ? `${nameOf(place)}; its commit record is ${await store.hasCommit(source, place) ? '' : 'not '}there`
      : 'never produced'
    findings.push(`${source}: ${what} ${key} (${where})`)
  }
  if (balance.size > shown.size) findings.push(`${source}: and ${balance.size - shown.size} more`)
  return findings
}

/** @param {Place} place */
function nameOf ({ epoch, seq, row }) {
  return `epoch ${epoch}, seq ${seq}, row ${row}`
}
