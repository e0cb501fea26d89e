/**
 * @param {string|number} type  of the database
 * @returns {Promise<import('./sink-bench.js').SinkBench[]>} at least one
 */
export async function benchesOf (type) {
  const { bench } = await import(`./${type}.js`)
  return [bench].flat()
}

/** The first of a type is the one that a study is about. @param {string|number} type */
export async function benchOf (type) {
  const [first] = await benchesOf(type)
  return first
}
