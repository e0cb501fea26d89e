import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Batch } from '../../gateway/batch/batch.js'
import { addHashes } from '../../gateway/batch/hashes.js'
import { Spool } from '../../broker/spool/spool.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('../../broker/spool/confirmations.js').Sum} Sum
 */

/**
 * A batch whose first value tells it from others.
 * @param {number} value
 * @param {number} [padding]
 * @param {string} [source]
 * @param {number} [rows]
 */
export function batchOf (value, padding = 0, source = 'press', rows = 1) {
  return new Batch({
    source,
    time: BigInt64Array.from({ length: rows }, (_, row) => BigInt(value + row)),
    fields: [{ name: 'value', type: 'float64' }, { name: 'padding', type: 'string' }],
    columns: [Float64Array.from({ length: rows }, (_, row) => value + row), Array(rows).fill('x'.repeat(padding))]
  })
}

/** A plain encoding, so that these tests are about the spool alone. @param {Batch} batch */
export function encode ({ source, identity, columns: [values, padding] }) {
  return Buffer.from(JSON.stringify({ value: values[0], source, identity, values: [...values], padding: padding[0] ?? '' }))
}

/** @param {Uint8Array} payload */
export function decode (payload) {
  const { source, identity, values, padding } = JSON.parse(Buffer.from(payload).toString())
  return batchOf(values[0], padding.length, source, values.length).withIdentity(identity)
}

/** What a sink reports that has stored these. @param {Identity[]} identities  consecutive ones of one source and epoch */
export function stored (identities) {
  const [{ source, epoch, seq }] = identities
  const hash = identities.reduce((sum, identity) => addHashes(sum, identity.hash ?? 0), 0)
  return { store: 'db', epochs: { [source]: { [epoch]: [/** @type {Sum} */ ([seq, seq + identities.length - 1, hash])] } } }
}

/** Has the disk fail when it is next forced to write. @param {string} folder @returns {Promise<() => void>} ends that */
export async function failNextSync (folder) {
  const file = await open(folder, 'r')
  const prototype = Object.getPrototypeOf(file)
  await file.close()
  const { datasync } = prototype
  prototype.datasync = async () => {
    prototype.datasync = datasync
    throw Object.assign(new Error('i/o error'), { code: 'EIO' })
  }
  return () => { prototype.datasync = datasync }
}

/** A spool's folder, the spools opened in it, and what they say. */
export class Rig {
  /** @type {Spool[]} */
  #opened = []
  /** @type {string[]} */
  said = []
  /** @type {import('../../broker/spool/retention.js').RequiredSink[]} */
  required = []
  root = ''

  get folder () { return join(this.root, 'stage') }

  async begin () {
    this.root = await mkdtemp(join(tmpdir(), 'sluice-spool-'))
    this.said = []
    this.required = []
  }

  async end () {
    for (const spool of this.#opened.splice(0)) await spool.close().catch(() => {})
    await rm(this.root, { recursive: true, force: true })
  }

  /** @param {string} key @param {(source: string) => boolean} [covers] */
  require (key, covers = () => true) {
    this.required.push({ key, covers })
  }

  /** @param {Partial<import('../../broker/spool/spool.js').SpoolOptions>} [options] */
  async open (options = {}) {
    const say = (/** @type {string} */ text) => { this.said.push(text) }
    const log = { info: say, warn: say, error: say }
    const spool = await Spool.open({ folder: this.folder, gateway: 'gw', encode, decode, required: () => this.required, log, ...options })
    this.#opened.push(spool)
    return spool
  }

  /** @param {Spool} spool */
  async close (spool) {
    this.#opened.splice(this.#opened.indexOf(spool), 1)
    await spool.close()
  }

  async segments () {
    return (await readdir(this.folder)).filter(name => name.endsWith('.segment')).sort()
  }

  /** @param {number} [index] */
  async segment (index = 0) {
    return join(this.folder, (await this.segments())[index])
  }

  /** Everything a spool gives to a publisher, in order; null for what turns out to be damaged. @param {Spool} spool */
  async readAll (spool) {
    const values = []
    for (let place = spool.next(); place; place = spool.next({ position: place.position + 1 })) {
      const record = await spool.read(place)
      values.push(record && /** @type {number} */ (JSON.parse(Buffer.from(record.payload).toString()).value))
    }
    return values
  }

  /** @param {Spool} spool @param {number} count @param {number} [padding] @param {string} [source] */
  async fill (spool, count, padding = 0, source = 'press') {
    const identities = []
    for (let value = 0; value < count; value++) identities.push(...await spool.append(batchOf(value, padding, source)))
    return identities
  }
}

/** The head of one source. @param {Spool} spool @param {string} [name] */
export function headOf (spool, name = 'press') {
  const head = JSON.parse(JSON.stringify(spool.head)).sources.find((/** @type {any} */ { source }) => source === name)
  if (!head) throw new Error(`no source ${name} in the head`)
  return head
}
