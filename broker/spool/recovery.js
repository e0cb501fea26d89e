import { readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { makePrivateFolder } from '../../gateway/base/files.js'
import { RangeSet } from '../../gateway/batch/ranges.js'
import { addHashes, hashOf } from '../../gateway/batch/hashes.js'
import { Kind, VERSION } from './record.js'
import { parseSegmentName, Scan } from './scan.js'
import { Segment } from './segment.js'
import { Stream } from './stream.js'

/**
 * @typedef {import('./scan.js').Found} Found
 * @typedef {import('./scan.js').Hole} Hole
 * @typedef {{segment: Segment, offset: number, stream: Stream, seq: number, count: number, replaces: [string, number][]}} Restaging
 */

/** Opens what an earlier process left in a spool's folder, finds all that is whole in it, and counts what is not. */
export class Recovery {
  /** Bytes of writes that were not finished. */
  tornBytes = 0
  /** @type {Map<number, Stream>} by number */
  #streams = new Map()
  /** @type {Map<Stream, [number, number, number][]>} what of them was known to be gone */
  #gone = new Map()
  /** @type {Restaging[]} */
  #restagings = []

  /**
   * @param {object} options
   * @param {string} options.folder
   * @param {string} options.gateway
   * @param {import('./log.js').Log} options.files
   * @param {import('./sources.js').Sources} options.sources
   * @param {import('./saved.js').State|null} options.state
   * @param {import('../../gateway/base/log.js').Log} options.log
   */
  constructor (options) {
    this.options = options
  }

  async run () {
    const { folder, files, state } = this.options
    await makePrivateFolder(folder)
    this.#restore()
    const names = (await readdir(folder, { withFileTypes: true })).sort((a, b) => a.name < b.name ? -1 : 1)
    for (const entry of names) {
      const path = join(folder, entry.name)
      const number = parseInt(entry.name, 10)
      if (entry.name.includes('.segment') && number >= files.nextNumber) files.nextNumber = number + 1
      if (entry.isDirectory()) this.#report('SLUICE_SPOOL_VERSION', `${path} is of another version, or a stranger's: it is left as it is.`)
      else if (entry.name.endsWith('.damaged')) files.aside.push({ path, bytes: (await stat(path)).size })
      else if (!parseSegmentName(path)) continue
      else if (state?.removed.includes(entry.name)) await rm(path, { force: true })
      else await this.#open(path, number)
    }
    for (const restaging of this.#restagings) await this.#settle(restaging)
    for (const stream of this.#streams.values()) this.#count(stream)
    for (const source of this.options.sources.inUse.values()) {
      source.sort()
      source.recoveredRows = source.rows
    }
  }

  /** What was known when it was last saved. */
  #restore () {
    const { gateway: own, state, sources } = this.options
    for (const [name, rest, streams] of state?.sources ?? []) {
      sources.resting.set(name, rest)
      if (streams.length === 0 && sources.isFull) continue
      const source = sources.recover(name)
      const [newest, seq = 0, sum = NaN] = rest.newest ?? []
      if (newest !== undefined) this.#add(new Stream(own, source, newest, { seq, rows: source.rows, sum: sum ?? NaN }))
      for (const { gateway, epoch, start, end, gone, replaced } of streams) {
        const stream = this.#add(new Stream(gateway, source, epoch, start))
        stream.reach({ ...end, sum: end.sum ?? NaN })
        stream.gone = new RangeSet(gone.map(([first, last]) => [first, last]))
        stream.replaced = new RangeSet(replaced)
        this.#gone.set(stream, gone)
      }
    }
  }

  /** @param {string} path @param {number} number */
  async #open (path, number) {
    const { files } = this.options
    let scan
    try {
      scan = await Scan.open(path)
    } catch (error) {
      return this.#setAside(path, describe(error))
    }
    if (!scan.isKnown) {
      await scan.close()
      return this.#report('SLUICE_SPOOL_VERSION', `${path} has the format ${scan.version}, not ${VERSION}: it is left as it is.`)
    }
    const { file, key, createdMs, size } = scan
    const segment = new Segment({ path, number, key, createdMs, file, base: files.end, bytes: size })
    const damagedBytes = await this.#read(scan, segment)
    if (damagedBytes > 0) this.#report('SLUICE_SPOOL_DAMAGED', `${damagedBytes} bytes of ${path} are damaged.`)
    if (!segment.isEmpty) {
      files.segments.push(segment)
    } else {
      await scan.close()
      if (damagedBytes > 0) await this.#setAside(path, 'nothing in it can be read')
      else await rm(path, { force: true })
    }
  }

  /** @param {Scan} scan @param {Segment} segment @returns {Promise<number>} how many of its bytes are damaged */
  async #read (scan, segment) {
    let damagedBytes = 0
    /** @type {Omit<Found, 'payload'>[]} */
    const found = []
    for await (const { found: record, hole } of scan.items()) {
      if (hole) {
        if (hole.isTorn) this.tornBytes += hole.to - hole.from
        else damagedBytes += hole.to - hole.from
      } else {
        const { header, offset, payload, isDamaged } = record
        if (isDamaged) damagedBytes += payload.length
        else if (header.kind === Kind.introduction) this.#introduce(payload, header)
        if (header.kind === Kind.batch) found.push({ header, offset, isDamaged })
        else if (header.kind === Kind.restaging && !isDamaged) this.#note(payload, header, segment, offset)
      }
    }
    for (const { header, offset, isDamaged } of found) {
      const stream = this.#streams.get(header.stream)
      const { seq, before, sum, rows, hash } = header
      const mark = { seq, rows: before, sum }
      const end = { seq: seq + 1, rows: before + rows, sum: addHashes(sum, hash) }
      if (!stream || (stream.runs.at(-1)?.last ?? -1) >= seq) damagedBytes += isDamaged ? 0 : header.length
      else if (isDamaged) stream.reach(end)
      else segment.add(offset, stream, mark, end)
    }
    return damagedBytes
  }

  /** @param {Buffer} payload @param {import('./record.js').Header} header */
  #introduce (payload, { seq, before, sum }) {
    const { sources, state } = this.options
    const mark = { seq, rows: before, sum }
    const [gateway, name, epoch] = JSON.parse(payload.toString())
    const known = this.#streams.get(hashOf(payload))
    if (known) return known.reach(mark)
    const source = sources.recover(name)
    for (const { end } of source.streams.values()) source.rows = Math.max(source.rows, end.rows)
    const isWhole = state === null || seq === 0
    this.#add(new Stream(gateway, source, epoch, isWhole ? mark : { seq: 0, rows: Math.min(source.rows, before), sum: 0 })).reach(mark)
    if (state && seq === 0 && before > source.rows) this.#lose(source, 0, before - source.rows)
  }

  /** @param {Buffer} payload @param {import('./record.js').Header} header @param {Segment} segment @param {number} offset */
  #note (payload, header, segment, offset) {
    const stream = this.#streams.get(header.stream)
    if (stream) this.#restagings.push({ segment, offset, stream, seq: header.seq, ...JSON.parse(payload.toString()) })
  }

  /** @param {Stream} stream */
  #add (stream) {
    stream.source.streams.set(stream.epoch, stream)
    this.#streams.set(stream.number, stream)
    return stream
  }

  /**
   * Records that were staged again are replaced once all that takes their place is there; what of that a kill left is undone, in the file,
   * too: the next opening could not tell it from damage.
   * @param {Restaging} restaging
   */
  async #settle ({ segment, offset, stream, seq, count, replaces }) {
    const isLast = segment.isEmpty || this.options.files.segments.at(-1) === segment
    if (stream.end.seq < seq + count && isLast && segment.offsets.every((at, i) => at < offset || segment.runOf[i].stream === stream)) {
      if (!segment.isEmpty) await segment.cutBack(offset)
      return
    }
    stream.reach({ seq: seq + count, rows: stream.end.rows, sum: NaN })
    for (const [epoch, old] of replaces) {
      const replaced = stream.source.streams.get(epoch)
      if (replaced && old >= replaced.start.seq) replaced.replace(old)
    }
  }

  /** Whatever is not there between the beginning of a stream and its end is lost. @param {Stream} stream */
  #count (stream) {
    const { source, start, end, epoch } = stream
    const held = new RangeSet(stream.runs.map(({ first, last }) => [first, last]))
    let batches = 0
    let rows = 0
    for (const [first, last] of held.missing(start.seq, end.seq - 1)) {
      const known = (this.#gone.get(stream) ?? []).filter(([from, to]) => from >= first && to <= last)
      const lost = last - first + 1 - known.reduce((sum, [from, to]) => sum + to - from + 1, 0)
      if (lost === 0) continue
      batches += lost
      rows += stream.rowsOf(first, last) - known.reduce((sum, [,, of]) => sum + of, 0)
      stream.gone.add(first, last)
      this.#report('SLUICE_SPOOL_DAMAGED', `Batches ${first}…${last} of epoch ${epoch} of "${source.name}" are damaged or missing: lost.`)
    }
    source.rows = Math.max(source.rows, end.rows)
    if (batches > 0) this.#lose(source, batches, rows)
  }

  /** @param {import('./sources.js').Source} source @param {number} batches @param {number} rows */
  #lose (source, batches, rows) {
    source.lostBatches += batches
    source.lostRows += rows
  }

  /** @param {string} path @param {string} why */
  async #setAside (path, why) {
    const aside = `${path}.damaged`
    await rename(path, aside)
    this.options.files.aside.push({ path: aside, bytes: (await stat(aside)).size })
    this.#report('SLUICE_SPOOL_DAMAGED', `${path} cannot be read (${why}); it is kept as ${basename(aside)}.`)
  }

  /** @param {`SLUICE_${string}`} code @param {string} what */
  #report (code, what) {
    this.options.log.error(describe(new SluiceError(code, what)))
  }
}

/**
 * Segments with batches of another gateway: nobody will report again that they are stored.
 * @param {import('./log.js').Log} files @param {string} gateway
 */
export function strangersIn ({ segments }, gateway) {
  return segments.filter(({ runs }) => runs.some(({ stream }) => stream.gateway !== gateway))
}

/**
 * A spool with batches of another gateway is not opened: their commits would never reach it.
 * @param {import('./log.js').Log} files @param {string} gateway @param {string} folder
 */
export function refuseStrangers (files, gateway, folder) {
  const stranger = strangersIn(files, gateway).flatMap(({ runs }) => runs).find(({ stream }) => stream.gateway !== gateway)
  if (!stranger) return
  const text = `It has batches of the gateway ${stranger.stream.gateway}, and this is ${gateway}: no sink would report them as stored.`
  throw new SluiceError('SLUICE_SPOOL_GATEWAY', text, {
    fix: `Write that name into the file gateway-id of the data folder, or move ${folder} away.`
  })
}
