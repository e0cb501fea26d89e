import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { FILES } from './report/write.js'
import { HEAD } from './run.js'

/** What is asked for `--resume` instead of a folder. */
export const LAST = 'last'

/**
 * The newest folder of a run with these options that did not come to its end; null where there is none.
 * @param {string} parent
 * @param {{study: string, options: import('./study.js').StudyOptions, limited: string}[]} runs  each in a folder of its own, named by its
 *   study, where they are several
 * @returns {Promise<string|null>}
 */
export async function lastUnfinished (parent, runs) {
  const names = await readdir(parent).catch(() => [])
  const found = await Promise.all(names.map(async name => {
    const folder = join(parent, name)
    const heads = await Promise.all(runs.map(run => headOf(runs.length > 1 ? join(folder, run.study) : folder, run)))
    const startedMs = Math.min(...heads.map(head => head.startedMs))
    return { folder, startedMs, isUnfinished: heads.every(({ isOurs }) => isOurs) && !heads.every(({ isComplete }) => isComplete) }
  }))
  const unfinished = found.filter(({ isUnfinished, startedMs }) => isUnfinished && startedMs < Infinity)
  return unfinished.toSorted((a, b) => b.startedMs - a.startedMs)[0]?.folder ?? null
}

/** @param {string} folder @param {object} run */
async function headOf (folder, run) {
  const head = await json(join(folder, HEAD))
  if (!head) return { startedMs: Infinity, isOurs: true, isComplete: false } // its turn has not come
  const { startedMs, ...before } = head
  const result = await json(join(folder, FILES.result))
  const isOurs = isDeepStrictEqual(before, JSON.parse(JSON.stringify(run)))
  return { startedMs, isOurs, isComplete: result?.isComplete === true }
}

/** @param {string} path @returns {Promise<any>} */
async function json (path) {
  return readFile(path, 'utf8').then(JSON.parse).catch(() => null)
}
