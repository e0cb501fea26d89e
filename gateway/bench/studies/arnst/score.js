/**
 * The score of Arnst, Plenk and Wöltche: how little of what it costs a variant takes, each cost in shares of the most that any takes.
 *
 * @typedef {object} Costs  absent: not measured; it counts for none of the variants
 * @property {number} [serverCpu]  percent of a core, of the database
 * @property {number} [serverMemory]
 * @property {number} [serverIo]  bytes a second
 * @property {number} [clientCpu]  of what writes or reads
 * @property {number} [clientMemory]
 * @property {number} [network]  bits a second
 * @property {number} [disk]  growth of the data folder
 * @property {number} [difficulty]  1 … 5
 * @typedef {keyof Costs} Cost
 */

/** The paper's. @type {Record<Cost, number>} */
export const WEIGHTS = {
  serverCpu: 3, serverMemory: 1, serverIo: 2, clientCpu: 3, clientMemory: 1, network: 2, disk: 1, difficulty: 1
}

const COSTS = /** @type {Cost[]} */ (Object.keys(WEIGHTS))

/**
 * (1 - Σ(Lᵢ / max Lᵢ · wᵢ) / Σ wᵢ) · 100, as printed: 0 … 100, more is better.
 * @param {Costs[]} variants
 */
export function printedScores (variants) {
  return scores(variants, () => true)
}

/**
 * What yields the paper's figures for reading: the difficulty costs nothing, though its weight is in the sum of all.
 * @param {Costs[]} variants
 */
export function publishedReadScores (variants) {
  return scores(variants, cost => cost !== 'difficulty')
}

/**
 * In percent of the most that any variant takes: figures 4 and 5.
 * @param {Costs[]} variants @param {Cost} cost
 * @returns {(number|null)[]}
 */
export function percentOfMost (variants, cost) {
  const most = Math.max(...variants.map(variant => variant[cost] ?? 0))
  return variants.map(variant => variant[cost] === undefined ? null : most === 0 ? 0 : variant[cost] / most * 100)
}

/**
 * The place of each score: the highest is 1; equal ones share the better place.
 * @param {number[]} all
 */
export function ranks (all) {
  return all.map(score => 1 + all.filter(other => other > score).length)
}

/** @param {Costs[]} variants @param {(cost: Cost) => boolean} counts  in what is subtracted */
function scores (variants, counts) {
  const measured = COSTS.filter(cost => variants.every(variant => variant[cost] !== undefined))
  const weights = measured.reduce((sum, cost) => sum + WEIGHTS[cost], 0)
  const shares = measured.filter(counts).map(cost => ({ cost, percents: percentOfMost(variants, cost) }))
  return variants.map((_, i) => {
    const lost = shares.reduce((sum, { cost, percents }) => sum + Number(percents[i]) * WEIGHTS[cost], 0)
    return 100 - lost / weights
  })
}
