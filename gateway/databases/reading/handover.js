/**
 * Pages from work that holds something while it runs (a connection, a transaction), as a generator. The work goes on when the next page is
 * asked for, and has ended and released what it held before the generator ends.
 * @template T
 * @param {(give: (page: T) => Promise<boolean>) => Promise<void>} work  `give` is false once no more is wanted
 * @returns {AsyncGenerator<T, void, void>}
 */
export async function * handedOver (work) {
  /** @type {PromiseWithResolvers<{page: T}|null>} */
  let offered = Promise.withResolvers()
  /** @type {PromiseWithResolvers<boolean>} */
  let wanted = Promise.withResolvers()
  const ended = work(page => {
    offered.resolve({ page })
    return wanted.promise
  }).then(() => offered.resolve(null), error => offered.reject(error))
  try {
    for (let offer = await offered.promise; offer !== null; offer = await offered.promise) {
      yield offer.page
      const { resolve } = wanted
      offered = Promise.withResolvers()
      wanted = Promise.withResolvers()
      resolve(true)
    }
  } finally {
    wanted.resolve(false)
    await ended
  }
}
