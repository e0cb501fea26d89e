/**
 * What is found out once; again only where that has failed.
 * @template T
 * @param {() => Promise<T>} find
 * @returns {() => Promise<T>}
 */
export function remembered (find) {
  /** @type {Promise<T>|null} */
  let found = null
  return () => found ??= find().catch(error => {
    found = null
    throw error
  })
}
