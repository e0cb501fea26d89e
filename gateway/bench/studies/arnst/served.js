import { describe } from '../../../base/errors.js'

/**
 * The inside of a client, which is a process of its own: answers what it is asked, one after the other, and ends with whoever started it.
 * @param {Record<string, (given: any) => unknown>} works  by name
 */
export function serve (works) {
  let working = Promise.resolve()
  process.on('message', ({ what, given }) => {
    working = working.then(async () => {
      const answer = await works[what](given)
      process.send?.({ answer })
    }).catch(error => { process.send?.({ error: describe(error) }) })
  })
  process.on('disconnect', () => process.exit())
}
