/**
 * @typedef {object} Kill
 * @property {string} victim  `gateway`, `mosquitto` or one of the servers
 * @property {boolean} early  while it is still starting
 * @property {boolean} forgets  what it kept on disk is deleted before it starts again
 * @property {number} afterMs  since the kill before, or since the victim was up again
 * @property {number} downMs  until it is started again
 *
 * @typedef {Pick<Kill, 'victim'|'early'|'forgets'>} Kind
 */

/** Of each round. @type {Kind[]} */
const MIX = [
  { victim: 'gateway', early: false, forgets: false },
  { victim: 'gateway', early: false, forgets: false },
  { victim: 'gateway', early: false, forgets: false },
  { victim: 'gateway', early: true, forgets: false },
  { victim: 'mosquitto', early: false, forgets: false },
  { victim: 'mosquitto', early: false, forgets: true }
]

/**
 * Who is killed when: the same for the same seed and servers. Each round kills the gateway four times, Mosquitto twice and every server
 * once, one that is alone twice.
 * @param {{kills: number, seed: number, servers: string[]}} options
 * @returns {Kill[]}
 */
export function planKills ({ kills, seed, servers }) {
  const random = randomNumbers(seed)
  const between = (/** @type {number} */ low, /** @type {number} */ high) => Math.round(low + random() * (high - low))
  const round = [
    ...MIX,
    ...(servers.length === 1 ? [...servers, ...servers] : servers).map(victim => ({ victim, early: false, forgets: false }))
  ]
  /** @type {Kill[]} */
  const plan = []
  while (plan.length < kills) {
    for (const kind of shuffled(round, random)) {
      plan.push({ ...kind, afterMs: kind.early ? between(0, 1000) : between(200, 2500), downMs: between(0, 1500) })
    }
  }
  return plan.slice(0, kills)
}

/** @template T @param {T[]} items @param {() => number} random @returns {T[]} */
function shuffled (items, random) {
  return items.map(item => ({ item, order: random() })).sort((a, b) => a.order - b.order).map(({ item }) => item)
}

/** Numbers from 0 to below 1, evenly spread: a Weyl sequence, its bits mixed by multiplication. @param {number} seed */
function randomNumbers (seed) {
  let state = seed
  return () => {
    state = (state + 0x9E3779B9) | 0
    let bits = Math.imul(state ^ (state >>> 16), 0x85EBCA6B)
    bits = Math.imul(bits ^ (bits >>> 13), 0xC2B2AE35)
    return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
  }
}
