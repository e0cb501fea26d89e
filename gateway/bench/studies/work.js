import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * What a run has to measure, and what has been measured before.
 *
 * @typedef {import('./study.js').StudyResult['cells'][number]} CellResult
 *
 * @typedef {object} Entry
 * @property {import('./study.js').Cell} cell
 * @property {CellResult|null} known  measured before
 * @property {string|null} missing  why it cannot be measured here
 * @property {number} seconds  that are still to come
 */

/** In the folder of a run: a line for each cell that has ended. */
export const CELLS = 'cells.jsonl'

/**
 * @param {import('./study.js').Study} study
 * @param {Pick<import('./run.js').RunOptions, 'folder'|'options'|'servers'>} run
 * @returns {Promise<{entries: Entry[], cut: string[], seconds: number}>}
 */
export async function workOf (study, { folder, options, servers }) {
  const { cells, cut } = study.plan(options)
  const measured = await measuredIn(folder)
  const entries = await Promise.all(cells.map(async cell => {
    const known = measured.get(cell.id) ?? null
    const missing = known ? null : await study.missing(cell, servers)
    return { cell, known, missing, seconds: known || missing !== null ? 0 : cell.seconds }
  }))
  return { entries, cut, seconds: entries.reduce((sum, { seconds }) => sum + seconds, 0) }
}

/** @param {string} folder @returns {Promise<Map<string, CellResult>>} by id */
async function measuredIn (folder) {
  const text = await readFile(join(folder, CELLS), 'utf8').catch(() => '')
  const results = text.split('\n').flatMap(parsed).filter(({ state }) => state === 'done')
  return new Map(results.map(result => [result.id, result]))
}

/** None where a kill has cut it. @param {string} line @returns {CellResult[]} */
function parsed (line) {
  try {
    return line === '' ? [] : [JSON.parse(line)]
  } catch {
    return []
  }
}
