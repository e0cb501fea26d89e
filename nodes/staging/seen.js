import { readOptions } from '../../gateway/base/options.js'
import { stats } from '../../gateway/stats/stats.js'
import { optionsOfForm } from '../form-options.js'
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

/**
 * Answers POST sluice-staging/TYPE/topics `{id, options}`, of those who may deploy: the `topics` that a server has, as its config node
 * stands in the editor, for forms to offer; none where it cannot be asked.
 * @param {import('../node.js').RED} RED
 * @param {string} type
 * @param {object} schema
 * @param {(options: any) => Promise<string[]>} namesOf
 */
export function serveNames (RED, type, schema, namesOf) {
  servePost(RED, `/sluice-staging/${type}/topics`, async (request, response) => {
    try {
      const options = readOptions(schema, optionsOfForm(RED, type, schema, request.body ?? {}))
      response.json({ topics: inOrder(await namesOf(options)) })
    } catch {
      response.json({ topics: [] }) // it is a convenience
    }
  })
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
