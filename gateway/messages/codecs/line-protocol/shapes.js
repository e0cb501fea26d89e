import { hashed } from './texts.js'

/**
 * The shapes of lines that have come, over all messages: mostly the same come again.
 *
 * @typedef {import('./shape.js').Shape} Shape
 */

const BUCKETS = 256
/** Shapes of a bucket, which has those of a measurement. */
const MAX_ALIKE = 8
const MAX_LINE_BYTES = 2 ** 16
/** What all take, about: a few bytes of each line must not become gigabytes. */
const MAX_KEPT_BYTES = 2 ** 24
const SHAPE_BYTES = 1024
const VALUE_BYTES = 256
const COMMA = 0x2c

/** @type {Shape[][]} */
const buckets = Array.from({ length: BUCKETS }, () => [])
let keptBytes = 0
/** Of the line before. @type {Shape|null} */
let last = null

/** The shape that the next line probably has. */
export function expectedShape () {
  return last?.next?.isKept ? last.next : null
}

/** The next line has this shape. @param {Shape} shape */
export function follow (shape) {
  if (last?.isKept) last.next = shape
  last = shape
}

/** Those that a line may have. @param {Uint8Array} bytes @param {number} from  where it begins */
export function likelyShapes (bytes, from) {
  return buckets[bucketOf(bytes, from)]
}

/** @param {Shape} shape  of a line @param {Uint8Array} bytes @param {number} from  where it begins */
export function keep (shape, bytes, from) {
  if (shape.lineBytes > MAX_LINE_BYTES) return
  keptBytes += sizeOf(shape)
  if (keptBytes > MAX_KEPT_BYTES) {
    buckets.forEach(bucket => bucket.splice(0).forEach(forget))
    keptBytes = sizeOf(shape)
  }
  const bucket = buckets[bucketOf(bytes, from)]
  if (bucket.length === MAX_ALIKE) {
    const [oldest] = bucket.splice(0, 1)
    forget(oldest)
    keptBytes -= sizeOf(oldest)
  }
  bucket.push(shape)
  shape.isKept = true
}

/** Lets go of what it leads to. @param {Shape} shape */
function forget (shape) {
  shape.isKept = false
  shape.next = null
}

/** @param {Shape} shape */
function sizeOf ({ lineBytes, kinds }) {
  return SHAPE_BYTES + lineBytes + VALUE_BYTES * kinds.length
}

/** By the name of the measurement. @param {Uint8Array} bytes @param {number} from */
function bucketOf (bytes, from) {
  let hash = 0
  for (let at = from; bytes[at] > 0x20 && bytes[at] !== COMMA; at++) hash = hashed(hash, bytes[at])
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1)
}
