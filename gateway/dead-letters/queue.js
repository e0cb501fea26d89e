import { join, resolve, sep } from 'node:path'
import { makePrivateFolder } from '../base/files.js'
import { identityKey } from '../batch/batch.js'
import { SluiceError } from '../base/errors.js'
import { LetterIndex } from './letter-index.js'
import { LineFile } from '../base/line-file.js'
import { isReplayed } from './replay.js'

/**
 * @typedef {import('./dead-letter.js').DeadLetter} DeadLetter
 * @typedef {import('./letter-index.js').Line} Line
 * @typedef {import('./letter-index.js').Place} Place
 */

const MIB = 1024 * 1024
const PAGE = 1000
/** Of the limit, what the letters of one source may take: none uses up the room of the others. */
const SHARE = 1 / 4
/** Of the limit, what letters may take that are only offered, together. The rest is for rows that must be kept. */
const OFFERED = 1 / 2

/** The file in a sink's folder. */
export const FILE_NAME = 'dead-letters.log'

/** What a file system has for a name. */
const MAX_NAME_BYTES = 255

/**
 * Where the dead letters of a sink are kept; of all sinks, a folder each, without its name. A long name takes folders within one another.
 * @param {string} userDir
 * @param {string} [sink]
 */
export function deadLettersFolder (userDir, sink) {
  const all = join(userDir, 'sluice', 'dead-letters')
  if (sink === undefined) return all
  const name = encodeURIComponent(sink).replace(/^\./, '%2E')
  if (name.length <= MAX_NAME_BYTES) return join(all, name)
  return join(all, ...name.replaceAll('.', '%2E').match(new RegExp(`.{1,${MAX_NAME_BYTES}}`, 'g')) ?? [])
}

/** The sink whose letters are in a folder. @param {string} folder  within that of all sinks */
export function sinkOfFolder (folder) {
  return decodeURIComponent(folder.replaceAll(sep, ''))
}

/**
 * @param {string} folder  of one sink; created when missing
 * @param {object} [options]
 * @param {number} [options.maxBytes]  of the file; what exceeds it is still kept, and nothing after it
 * @param {boolean} [options.readOnly]  to look at them while a gateway may be running
 * @param {import('../base/log.js').Log} [options.log]
 * @returns {Promise<DeadLetterQueue>} once all keys have been read. One at a time may be open for writing.
 */
export async function openDeadLetterQueue (folder, { maxBytes = 256 * MIB, readOnly = false, log } = {}) {
  folder = resolve(folder)
  if (!readOnly) await makePrivateFolder(folder)
  const index = new LetterIndex()
  const lines = await LineFile.open(join(folder, FILE_NAME), (line, place) => index.add(line, place), { readOnly })
  const { tornBytes, damaged } = lines
  if (tornBytes > 0 && !readOnly) {
    log?.warn(`Dead letters in "${folder}": ${tornBytes} bytes at the end were cut off; the process had died while writing them.`)
  }
  if (damaged > 0) log?.error(`Dead letters in "${folder}": ${damaged} lines are damaged and left out. The disk may be failing.`)
  return new DeadLetterQueue(folder, lines, index, maxBytes)
}

/**
 * The rows a sink's database refused for good, kept until they have been replayed. The same row is kept once.
 */
export class DeadLetterQueue {
  #lines
  #index
  #maxBytes
  /** @type {Promise<unknown>} */
  #working = Promise.resolve()

  /** @param {string} folder @param {LineFile} lines @param {LetterIndex} index @param {number} maxBytes */
  constructor (folder, lines, index, maxBytes) {
    this.folder = folder
    /** bytes cut off when it was opened */
    this.tornBytes = lines.tornBytes
    /** lines left out when it was opened */
    this.damaged = lines.damaged
    this.#lines = lines
    this.#index = index
    this.#maxBytes = maxBytes
  }

  get count () { return this.#index.places.size }

  /** of the file */
  get bytes () { return this.#lines.bytes }

  /** of what it may be */
  get fillPercent () { return Math.round(this.bytes / this.#maxBytes * 100) }

  /** Every key, oldest first; those that cannot be replayed come last. */
  get keys () {
    const places = [...this.#index.places]
    return [false, true].flatMap(last => places.filter(([, { isTruncated }]) => isTruncated === last).map(([key]) => key))
  }

  /**
   * Which rows of a batch must no longer be stored under its identity: they are dead letters, or were and have been replayed.
   * @param {import('../batch/batch.js').Identity} identity
   */
  settledRows (identity) {
    return this.#index.settled.size > 0 ? this.#index.settled.get(identityKey(identity)) : undefined
  }

  /**
   * @param {DeadLetter[]} letters  those that are or were there already are left out
   * @returns {Promise<Set<string>>} once they are on the disk: the sources of which none was kept, as they have had their share. Rejects
   *   with SLUICE_DEAD_LETTERS_FULL, or what the disk says; none at all is kept then
   */
  append (letters) {
    return this.#inTurn(async () => {
      const added = letters.filter(letter => !this.#index.knows(letter))
      // What was replayed leaves as many as it brings.
      const stopped = new Set(added.filter(letter => !isReplayed(letter) && this.isFullFor(letter.source)).map(({ source }) => source))
      const kept = added.filter(({ source }) => !stopped.has(source))
      if (kept.length === 0) return stopped
      if (this.bytes >= this.#maxBytes) throw full(this.folder, this.#maxBytes)
      await this.#write(kept)
      return stopped
    })
  }

  /** A source has had its share: its rows wait until some of its letters are replayed. @param {string} source */
  isFullFor (source) { return this.#index.bytesOf(source) >= this.#maxBytes * SHARE }

  /** Those that have had their share. */
  get fullSources () { return this.#index.sources.filter(source => this.isFullFor(source)) }

  /**
   * Keeps those letters for which there is room: less than there is for others, and for each source.
   * @param {DeadLetter[]} letters
   * @returns {Promise<Set<string>>} the keys of those that are kept, once they are on the disk
   */
  offer (letters) {
    return this.#inTurn(async () => {
      /** @type {DeadLetter[]} */
      const kept = []
      /** @type {Map<string, number>} */
      const added = new Map()
      let { bytes } = this
      for (const letter of letters) {
        const ofSource = added.get(letter.source) ?? this.#index.bytesOf(letter.source)
        if (bytes >= this.#maxBytes * OFFERED || ofSource >= this.#maxBytes * SHARE) continue
        const length = JSON.stringify(letter).length
        bytes += length
        added.set(letter.source, ofSource + length)
        kept.push(letter)
      }
      if (kept.length > 0) await this.#write(kept)
      return new Set(kept.map(({ key }) => key))
    })
  }

  /**
   * @param {{offset?: number, limit?: number}} [page]
   * @returns {Promise<DeadLetter[]>} oldest first
   */
  list ({ offset = 0, limit = 100 } = {}) {
    return this.#inTurn(() => this.#read([...this.#index.places.values()].slice(offset, offset + limit)))
  }

  /** @param {string} key @returns {Promise<DeadLetter|undefined>} */
  get (key) {
    return this.#inTurn(async () => {
      const place = this.#index.places.get(key)
      return place && this.#readOne(place)
    })
  }

  /** Those that have begun and not ended: their rows may be stored, or not. */
  get replays () { return [...this.#index.replays.values()] }

  /**
   * Writes down that dead letters are about to leave, all together.
   * @param {import('./replay.js').Replay} replay
   * @returns {Promise<void>} once that is on the disk
   */
  beginReplay (replay) {
    return this.#inTurn(() => this.#write([replay]))
  }

  /**
   * Removes dead letters, as their rows have been accepted elsewhere.
   * @param {string[]} keys  those that are not there are left out
   * @returns {Promise<void>} once that is on the disk
   */
  replayed (keys) {
    return this.#inTurn(async () => {
      const known = keys.filter(key => this.#index.places.has(key))
      if (known.length === 0) return
      await this.#write([{ replayed: known }])
      const { garbageBytes } = this.#index
      if (garbageBytes > this.bytes / 2 || (this.bytes >= this.#maxBytes && garbageBytes >= MIB)) await this.#compact()
    })
  }

  close () {
    return this.#inTurn(() => this.#lines.close())
  }

  /** @param {Line[]} lines */
  async #write (lines) {
    const places = await this.#lines.append(lines)
    lines.forEach((line, i) => this.#index.add(line, places[i]))
  }

  /** Rewrites the file without the letters that are gone. */
  async #compact () {
    const index = new LetterIndex()
    this.#lines = await this.#lines.replace(this.#content(), (line, place) => index.add(line, place))
    this.#index = index
  }

  /** @returns {AsyncGenerator<Line[]>} */
  async * #content () {
    yield this.#index.otherLines()
    const places = [...this.#index.places.values()]
    for (let i = 0; i < places.length; i += PAGE) yield this.#read(places.slice(i, i + PAGE))
  }

  /** @param {Place[]} places @returns {Promise<DeadLetter[]>} */
  #read (places) {
    return Promise.all(places.map(place => this.#readOne(place)))
  }

  /** @param {Place} place @returns {Promise<DeadLetter>} */
  async #readOne (place) {
    const letter = await this.#lines.read(place)
    if (letter !== undefined) return letter
    const text = `The line at byte ${place.offset} of "${this.#lines.path}" is not what was written.`
    throw new SluiceError('SLUICE_DEAD_LETTER_DAMAGED', text, { fix: 'The disk may be failing.' })
  }

  /**
   * One thing after another: the file is rewritten now and then.
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  #inTurn (work) {
    const done = this.#working.then(work)
    this.#working = done.catch(() => {})
    return done
  }
}

/** @param {string} folder @param {number} maxBytes */
function full (folder, maxBytes) {
  return new SluiceError('SLUICE_DEAD_LETTERS_FULL', `The dead letters in "${folder}" have reached their limit of ${maxBytes} bytes.`, {
    fix: 'Mend what the database refuses ("sluice dead-letters list" shows it) and replay them; until there is room, nothing more can ' +
      'be stored.'
  })
}

/** @param {string} source */
export function shareFull (source) {
  return new SluiceError('SLUICE_DEAD_LETTERS_SHARE', `The dead letters of "${source}" have reached the share of one source.`, {
    fix: 'Mend what the database refuses ("sluice dead-letters list" shows it) and replay them; until there is room, its rows wait.'
  })
}
