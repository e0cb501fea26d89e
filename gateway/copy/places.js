import { existsSync } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { SluiceError } from '../base/errors.js'
import { readOptions } from '../base/options.js'
import { readerTypes, serverTypes, sinkTypes } from '../databases/index.js'
import { readFlow } from './flow-file.js'

/**
 * Where to copy from and to: sinks of a flow, or a file.
 *
 * @typedef {import('../databases/reader.js').Reader} Reader
 * @typedef {import('../databases/sink.js').Sink} Sink
 * @typedef {import('../base/log.js').Log} Log
 *
 * @typedef {object} Place
 * @property {string} type  of the database
 * @property {string} name
 * @property {Record<string, any>} options  of the sink
 * @property {Record<string, any>|null} server  options of its connection; null where it has none
 */

const PREFIX = 'sluice-'
/** Of a flow's options, what is relative to the gateway's data. */
const PATHS = ['file', 'folder']

/**
 * @param {string} wanted  name or id of a sink in the flow
 * @param {{userDir: string, flows?: string}} options
 * @returns {Promise<Place>}
 * @throws {SluiceError} SLUICE_COPY_PLACE
 */
export async function placeInFlow (wanted, { userDir, flows }) {
  const { nodes, credentialsOf } = await readFlow(userDir, flows)
  const sinks = nodes.filter(({ type }) => type.startsWith(PREFIX) && Object.hasOwn(sinkTypes, type.slice(PREFIX.length)))
  const found = sinks.filter(({ id, name }) => id === wanted || name?.trim() === wanted)
  if (found.length !== 1) {
    const names = sinks.map(({ id, name }) => name?.trim() ? `${name.trim()} (${id})` : id).join(', ')
    const how = found.length === 0 ? 'No sink' : 'More than one sink'
    throw new SluiceError('SLUICE_COPY_PLACE', `${how} of the flow is called "${wanted}".`, {
      fix: `Use the name or id of one of: ${names || 'none'}.`
    })
  }
  const [config] = found
  const type = config.type.slice(PREFIX.length)
  const { schema } = await sinkTypes[type]()
  const options = readOptions(schema, config)
  for (const name of PATHS.filter(each => type !== 'file' || each === 'folder')) {
    if (name in options) options[name] = resolve(userDir, 'sluice', options[name])
  }
  if (!serverTypes[type]) return { type, name: wanted, options, server: null }
  const server = nodes.find(({ id }) => id === config.server)
  if (!server) {
    throw new SluiceError('SLUICE_COPY_PLACE', `The server of "${wanted}" is not in the flow.`, { fix: 'Choose one in its form.' })
  }
  const { schema: connection } = await serverTypes[type]()
  return { type, name: wanted, options, server: readOptions(connection, server, { credentials: credentialsOf(server.id) }) }
}

/**
 * An SQLite or DuckDB file, which need not be a sink's.
 * @param {string} file
 * @param {{table: string, layout?: string}} options
 * @returns {Promise<Place>}
 * @throws {SluiceError} SLUICE_COPY_PLACE
 */
export async function placeInFile (file, { table, layout = 'wide' }) {
  const handle = await open(file)
  const { buffer } = await handle.read(Buffer.alloc(16), 0, 16, 0).finally(() => handle.close())
  const isSqlite = buffer.toString('latin1').startsWith('SQLite format 3')
  const type = isSqlite ? 'sqlite' : buffer.toString('latin1', 8, 12) === 'DUCK' ? 'duckdb' : null
  if (type) return { type, name: basename(file), options: { file: resolve(file), table, layout, isGiven: true }, server: null }
  throw new SluiceError('SLUICE_COPY_PLACE', `"${file}" is neither an SQLite nor a DuckDB file.`, {
    fix: 'Name a sink of the flow, or another file.'
  })
}

/** Whether it is the path of a file rather than a name. @param {string} wanted */
export function isFile (wanted) {
  return existsSync(wanted)
}

/** What is open of a place. */
export class OpenPlace {
  /** @type {{close: () => Promise<void>}[]} */
  #opened = []
  /** @type {any} */
  #server = null

  /** @param {Place} place @param {Log} log */
  constructor (place, log) {
    this.place = place
    this.log = log
  }

  /** @returns {Promise<{sink: Sink, isTransient: (error: unknown) => boolean}>} */
  async sink () {
    const { type, options } = this.place
    const { open: openSink, isTransient } = await sinkTypes[type]()
    const sink = await openSink(options, { server: await this.#connected(), log: this.log })
    this.#opened.unshift(sink)
    return { sink, isTransient }
  }

  /** The table of a source. @param {string} source */
  tableOf (source) {
    return this.place.options.table?.replaceAll('{source}', () => source)
  }

  /** A reader of a source; null where the database cannot be read. @param {string} source @returns {Promise<Reader|null>} */
  async reader (source) {
    const { type, options } = this.place
    if (!readerTypes[type]) return null
    const { schema, open: openReader } = await readerTypes[type]()
    const { layout, table, isGiven = false } = options
    const isShared = !table.includes('{source}') && !isGiven
    const known = Object.keys(/** @type {any} */ (schema).properties).filter(name => options[name] !== undefined)
    const reader = await openReader({
      ...Object.fromEntries(known.map(name => [name, options[name]])),
      table: this.tableOf(source),
      layout: ['upsert', 'timeseries'].includes(layout) ? 'wide' : layout,
      source: isShared ? source : ''
    }, { server: await this.#connected(), log: this.log })
    this.#opened.unshift(reader)
    return reader
  }

  async close () {
    for (const each of this.#opened.splice(0)) await each.close()
    await this.#server?.close()
  }

  async #connected () {
    const { type, server } = this.place
    this.#server ??= server && (await serverTypes[type]()).connect(server, { log: this.log })
    return this.#server ?? undefined
  }
}

/**
 * What a place has, by the sink's own record.
 * @param {OpenPlace} from
 * @param {string} [source]  only this one
 * @returns {Promise<{store: string, sources: string[]}>}
 * @throws {SluiceError} SLUICE_COPY_PLACE
 */
export async function sourcesOf (from, source) {
  const { file, table, isGiven } = from.place.options
  if (isGiven) return { store: `file:${await realpath(file)}`, sources: [source ?? table] }
  const { store, records } = await (await from.sink()).sink.committed()
  const known = [...new Set(records.filter(({ stored }) => stored > 0).map(each => each.source))].sort()
  if (source === undefined ? known.length > 0 : known.includes(source)) return { store, sources: source === undefined ? known : [source] }
  const what = source === undefined ? '' : ` of a source "${source}"`
  throw new SluiceError('SLUICE_COPY_PLACE', `"${from.place.name}" has stored nothing${what}.`, {
    fix: known.length > 0 ? `It has: ${known.join(', ')}.` : 'Check its Table: what is in one of another name is not its own.'
  })
}
