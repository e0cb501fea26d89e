/**
 * @typedef {object} Event
 * @property {'kill'|'damage'|'deploy'|'setBack'} kind
 * @property {string} victim  of a kill: `gateway`, `gateway2`, `broker` or one of the servers; of damage and deploys: the gateway; of
 *   setting back: the database
 * @property {boolean} early  killed while it is still starting
 * @property {boolean} forgets  what it kept on disk is deleted before it starts again
 * @property {Change} [change]  of a deploy
 * @property {'full'|'flows'|'nodes'} [deployment]
 * @property {number} pick  from 0 to below 1: which sink is changed, which bits are flipped
 * @property {number} afterMs  since the event before, or since the victim was up again
 * @property {number} downMs  until it is started again
 *
 * @typedef {'rename'|'disable'|'remove'|'move'|'source'} Change  a sink gets another name; it is disabled, the next time enabled again; it
 *   is deleted, the next time that is undone; its node is only moved; there is one more source
 * @typedef {Pick<Event, 'victim'|'early'|'forgets'>} Kill
 */

/** Of each round. @type {Kill[]} */
const MIX = [
  { victim: 'gateway', early: false, forgets: false },
  { victim: 'gateway', early: false, forgets: false },
  { victim: 'gateway', early: false, forgets: false },
  { victim: 'gateway', early: true, forgets: false },
  { victim: 'broker', early: false, forgets: false },
  { victim: 'broker', early: false, forgets: true }
]

const CHANGES = /** @type {const} */ (['rename', 'disable', 'remove', 'move', 'source'])
const DEPLOYMENTS = /** @type {const} */ (['nodes', 'nodes', 'flows', 'full'])

/**
 * What happens to whom, and when: the same for the same seed, servers and kinds of events. Each round kills the gateway four times,
 * the broker twice and every server once, one that is alone twice; with deploys there are five, with damage two, with setting back one for
 * each database that can be.
 * @param {object} options
 * @param {number} options.events  in all
 * @param {number} options.seed
 * @param {string[]} options.servers
 * @param {string[]} [options.gateways]
 * @param {boolean} [options.deploys]
 * @param {boolean} [options.damage]
 * @param {string[]} [options.setBack]  the databases that are
 * @returns {Event[]}
 */
export function planEvents ({ events, seed, servers, gateways = ['gateway'], deploys = false, damage = false, setBack = [] }) {
  const random = randomNumbers(seed)
  const between = (/** @type {number} */ low, /** @type {number} */ high) => Math.round(low + random() * (high - low))
  const anyOf = (/** @type {readonly any[]} */ items) => items.length > 1 ? items[Math.floor(random() * items.length)] : items[0]
  const still = { early: false, forgets: false }
  /** @type {(Kill & {kind: Event['kind'], change?: Change})[]} */
  const round = [
    ...MIX.map(kill => ({ kind: /** @type {const} */ ('kill'), ...kill })),
    ...(servers.length === 1 ? [...servers, ...servers] : servers)
      .map(victim => ({ kind: /** @type {const} */ ('kill'), victim, ...still })),
    ...(deploys ? CHANGES : []).map(change => ({ kind: /** @type {const} */ ('deploy'), victim: 'gateway', ...still, change })),
    ...(damage ? [1, 2] : []).map(() => ({ kind: /** @type {const} */ ('damage'), victim: 'gateway', ...still })),
    ...setBack.map(victim => ({ kind: /** @type {const} */ ('setBack'), victim, ...still }))
  ]
  /** @type {Event[]} */
  const plan = []
  while (plan.length < events) {
    for (const kind of shuffled(round, random)) {
      plan.push({
        ...kind,
        ...(kind.kind === 'deploy' ? { deployment: anyOf(DEPLOYMENTS) } : {}),
        victim: kind.victim === 'gateway' ? anyOf(gateways) : kind.victim,
        pick: kind.kind === 'kill' ? 0 : random(),
        afterMs: kind.early ? between(0, 1000) : between(200, 2500),
        downMs: between(0, 1500)
      })
    }
  }
  return plan.slice(0, events)
}

/** @template T @param {T[]} items @param {() => number} random @returns {T[]} */
function shuffled (items, random) {
  return items.map(item => ({ item, order: random() })).sort((a, b) => a.order - b.order).map(({ item }) => item)
}

/** Numbers from 0 to below 1, evenly spread: a Weyl sequence, its bits mixed by multiplication. @param {number} seed */
export function randomNumbers (seed) {
  let state = seed
  return () => {
    state = (state + 0x9E3779B9) | 0
    let bits = Math.imul(state ^ (state >>> 16), 0x85EBCA6B)
    bits = Math.imul(bits ^ (bits >>> 13), 0xC2B2AE35)
    return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
  }
}
