import { mkdir, rename, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { markdown } from './markdown.js'
import { overview } from './overview.js'
import { page } from './page.js'
import { withoutSecrets } from '../../../base/secrets.js'

/**
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').Section} Section
 */

/** Written again as cells end, each file is always whole. `overview` leads to the reports of several studies, in folders below it. */
export const FILES = { page: 'report.html', markdown: 'report.md', result: 'result.json', overview: 'index.html' }
const MAX_HOST_LENGTH = 60

/**
 * Writes page, Markdown and result into the folder of a run.
 * @param {string} folder
 * @param {StudyResult} result
 * @param {Section[]} sections
 * @param {Record<string, string>} [others]  more files: texts by their names
 */
export async function writeReport (folder, result, sections, others = {}) {
  await mkdir(folder, { recursive: true })
  await replace(join(folder, FILES.result), `${JSON.stringify(withoutSecrets(result), null, 2)}\n`)
  await replace(join(folder, FILES.markdown), markdown(result, sections))
  await replace(join(folder, FILES.page), page(result, sections))
  for (const [name, text] of Object.entries(others)) await replace(join(folder, name), text)
}

/** @param {string} folder @param {StudyResult[]} results  whose reports are in folders of it, named by their studies */
export async function writeOverview (folder, results) {
  await replace(join(folder, FILES.overview), overview(results.map(result => ({ result, link: `${result.study}/${FILES.page}` }))))
}

/** @param {string} folder @param {{page: string, markdown: string}} comparison */
export async function writeComparison (folder, { page: text, markdown: lines }) {
  await mkdir(folder, { recursive: true })
  await replace(join(folder, FILES.markdown), lines)
  await replace(join(folder, FILES.page), text)
}

/**
 * `arnst-pi4-2026-11-23-021735`, in UTC: a folder sorts by time, and two runs of a day have one each.
 * @param {{study: string, startedMs: number}} result
 * @param {string} host
 */
export function folderName ({ study, startedMs }, host) {
  const [day, time] = new Date(startedMs).toISOString().slice(0, 19).split('T')
  return [word(study), word(host), day, time.replaceAll(':', '')].join('-')
}

/**
 * Makes a folder that no other run has, even one that began in the same second.
 * @param {string} parent @param {string} study
 */
export async function newFolder (parent, study) {
  await mkdir(parent, { recursive: true })
  const name = folderName({ study, startedMs: Date.now() }, hostname())
  for (let i = 1; ; i++) {
    const folder = join(parent, i === 1 ? name : `${name}-${i}`)
    const isNew = await mkdir(folder).then(() => true, error => {
      if (error.code === 'EEXIST') return false
      throw error
    })
    if (isNew) return folder
  }
}

/** That is a name on every system, and leads nowhere else. @param {string} text */
function word (text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, MAX_HOST_LENGTH).replace(/^-+|-+$/g, '') || 'unnamed'
}

/** For others to read, unlike what Sluice keeps for itself. @param {string} path @param {string} text */
async function replace (path, text) {
  const temporary = `${path}.${process.pid}.new`
  await writeFile(temporary, text)
  await rename(temporary, path)
}
