import { stats } from '../../gateway/stats/stats.js'
import { servePost } from '../serve-post.js'

/** A form offers no more than can be looked through. */
const MAX_OFFERED = 1000

/**
 * Answers POST sluice-staging/seen, of those who may see the flows: the `sources` and `gateways` that this gateway has heard of, for forms
 * to offer.
 * @param {import('../node.js').RED} RED
 */
export function serveSeen (RED) {
  servePost(RED, '/sluice-staging/seen', (_request, response) => response.json(seen()), 'flows.read')
}

function seen () {
  const balances = stats.readBalances()
  const own = [...stats.metersOf('source'), ...stats.metersOf('stage')].flatMap(({ rowsBySource }) => [...rowsBySource.keys()])
  return {
    sources: inOrder([...own, ...balances.map(({ source }) => source)]),
    gateways: inOrder(balances.map(({ gateway }) => gateway))
  }
}

/** @param {string[]} names */
function inOrder (names) {
  return [...new Set(names)].sort((a, b) => a.localeCompare(b)).slice(0, MAX_OFFERED)
}
