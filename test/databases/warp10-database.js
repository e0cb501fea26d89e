import { connect } from '../../gateway/databases/warp10/connection.js'
import { open } from '../../gateway/databases/warp10/sink.js'
import { TestDatabase } from './test-database.js'

/** Labels of the sink's own. */
const OWN = ['id', 'gateway', 'row', 'ns', 'fields', '.app']

/** @typedef {Pick<import('../servers/warp10.js').Warp10Server, 'port'|'tokens'|'start'|'stop'|'kill'|'remove'>} Served */

/**
 * A Warp 10 server for the tests of a suite, with an owner of each test, who has nothing yet, and another.
 * @extends {TestDatabase<import('../../gateway/databases/warp10/connection.js').Warp10Server>}
 */
export class Warp10Database extends TestDatabase {
  /** @type {Served} */
  server = /** @type {any} */ (null)
  #owner = 0

  /** Call it within `describe`. @param {(context: Mocha.Context) => Promise<Served>} start */
  static inSuite (start) {
    const database = new Warp10Database({ connect, open })
    before(async function () {
      this.timeout(120_000)
      database.server = await start(this)
    })
    beforeEach(() => { database.#owner += 2 })
    afterEach(() => database.closeOpened())
    after(() => database.server?.remove())
    return database
  }

  get tokens () { return this.server.tokens[this.#owner] }

  get tokensOfAnother () { return this.server.tokens[this.#owner + 1] }

  /** @override */
  get options () { return { port: this.server.port, ...this.tokens } }

  /** @param {string} path @param {Record<string, string>} query @param {string} token */
  async #ask (path, query, token) {
    const url = `http://127.0.0.1:${this.server.port}/api/v0/${path}?${new URLSearchParams(query)}`
    const answer = await fetch(url, { headers: { 'x-warp10-token': token } })
    if (!answer.ok) throw new Error(await answer.text())
    return { text: await answer.text(), unitNs: 1_000_000_000n / BigInt(answer.headers.get('x-warp10-timeunit') ?? '1') }
  }

  /** @param {string} selector @param {[string, string]} [range] */
  remove = async (selector, [start, end] = [String(-(2n ** 63n)), String(2n ** 63n - 1n)]) => {
    await this.#ask('delete', { selector, start, end }, this.tokens.writeToken)
  }

  /** Of points, oldest first. @param {string} selector */
  points = async selector => {
    const { readToken } = this.tokens
    const range = { start: String(-(2n ** 63n)), stop: String(2n ** 63n - 1n) }
    const { text, unitNs } = await this.#ask('fetch', { selector, ...range, format: 'fulltext' }, readToken)
    let head = ''
    return text.split('\n').filter(line => line !== '').map(line => {
      const [, tick, named, value] = /** @type {string[]} */ (/^=?(-?\d+)\/\S* (?:([^ {]+\{[^}]*\}) )?(.*)$/.exec(line))
      head = named ?? head
      const pairs = head.slice(head.indexOf('{') + 1, -1).split(',').map(pair => pair.split('=').map(decodeURIComponent))
      const labels = Object.fromEntries(pairs)
      const ns = BigInt(tick) * unitNs + BigInt(labels.ns ?? 0)
      return { ns, name: decodeURIComponent(head.split('{')[0]), labels, text: value, value: cellOf(value) }
    }).sort((a, b) => a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0)
  }

  /** As the contract has them: points of one time and the same labels are a row. @param {string} table @returns {Promise<any[]>} */
  rows = async table => {
    const points = await this.points(`~.*{id=${encodeURIComponent(table)}}`)
    const columns = new Set(points.flatMap(({ name, labels }) => [name, ...Object.keys(labels).filter(label => !OWN.includes(label))]))
    const rows = new Map()
    for (const { ns, name, labels, value } of points.sort((a, b) => Number(a.labels.row ?? 0) - Number(b.labels.row ?? 0))) {
      const key = `${ns} ${JSON.stringify(Object.entries(labels).sort())}`
      const row = rows.get(key) ?? { time: ns, ...Object.fromEntries(Array.from(columns, column => [column, labels[column] ?? null])) }
      rows.set(key, Object.assign(row, { [name]: value }))
    }
    return [...rows.values()].sort((a, b) => a.time < b.time ? -1 : a.time > b.time ? 1 : 0)
  }

  /** The values of the label `id`, without those of commit records. */
  tables = async () => {
    const points = await this.points('~.*{}')
    return [...new Set(points.filter(({ name }) => name !== 'sluice_commits').map(({ labels }) => labels.id))]
  }
}

/** @param {string} text */
function cellOf (text) {
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
  if (text === 'T' || text === 'F') return Number(text === 'T')
  if (text.startsWith('\'')) return decodeURIComponent(text.slice(1, -1))
  return text.startsWith('b64:') ? `0x${Buffer.from(text.slice(4), 'base64').toString('hex')}` : Number(text)
}
