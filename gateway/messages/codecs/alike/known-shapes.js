/**
 * The shapes of a format that have come, over all messages: mostly the same come again.
 *
 * @typedef {import('./shape.js').Shape} Shape
 */

const BUCKETS = 256
const MAX_ALIKE = 8
const MAX_ROW_BYTES = 2 ** 16
/** What all take, about: a few bytes of each row must not become gigabytes. */
const MAX_KEPT_BYTES = 2 ** 24
const SHAPE_BYTES = 1024
const VALUE_BYTES = 256

export class KnownShapes {
  /** @type {Shape[][]} */
  #buckets = Array.from({ length: BUCKETS }, () => [])
  #keptBytes = 0
  /** Of the row before. @type {Shape|null} */
  #last = null

  /** The one that the next row probably has. */
  get expected () {
    const next = this.#last?.next
    return next?.isKept ? next : null
  }

  /** The next row has this shape. @param {Shape} shape */
  follow (shape) {
    if (this.#last?.isKept) this.#last.next = shape
    this.#last = shape
  }

  /** Those that a row may have. @param {number} hash  of something that rows of one shape have in common */
  likely (hash) {
    return this.#buckets[bucketOf(hash)]
  }

  /** @param {Shape} shape @param {number} hash */
  keep (shape, hash) {
    if (shape.isKept || shape.rowBytes > MAX_ROW_BYTES) return
    this.#keptBytes += sizeOf(shape)
    if (this.#keptBytes > MAX_KEPT_BYTES) {
      for (const bucket of this.#buckets) bucket.splice(0).forEach(forget)
      this.#keptBytes = sizeOf(shape)
    }
    const bucket = this.likely(hash)
    if (bucket.length === MAX_ALIKE) {
      const [oldest] = bucket.splice(0, 1)
      forget(oldest)
      this.#keptBytes -= sizeOf(oldest)
    }
    bucket.push(shape)
    shape.isKept = true
  }
}

/** With what it leads to. @param {Shape} shape */
function forget (shape) {
  shape.isKept = false
  shape.next = null
}

/** @param {Shape} shape */
function sizeOf ({ rowBytes, kinds }) {
  return SHAPE_BYTES + rowBytes + VALUE_BYTES * kinds.length
}

/** @param {number} hash */
function bucketOf (hash) {
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1)
}
