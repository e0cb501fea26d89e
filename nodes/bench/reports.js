import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { FRAME_HEADERS, guarded } from '../../gateway/web/guard.js'
import { servePost } from '../serve-post.js'

/**
 * The reports in the folders of the nodes: where the gateway serves the live page, it serves them, to the same users.
 *
 * @typedef {{name: string, link: string|null}} Listed
 */

/** Of a report, or of several studies: a folder has one of these. */
const PAGES = ['index.html', 'report.html']
/** All that is ever served: a folder or two, none of them hidden or above, then one of these files. */
const PATH = /^\/((?:[^/\\\0.][^/\\\0]*\/){1,2})(index\.html|report\.html|report\.md|result\.json)$/
const MAX_LISTED = 20

/** @type {Record<string, string>} */
const TYPES = { html: 'text/html; charset=utf-8', md: 'text/markdown; charset=utf-8', json: 'application/json' }

const HEADERS = {
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': 'default-src \'none\'; style-src \'unsafe-inline\'; img-src data:; base-uri \'none\'; form-action \'none\'; ' +
    FRAME_HEADERS['Content-Security-Policy']
}

/** The folders that nodes serve, by their ids. @type {Map<string, string>} */
export const servedFolders = new Map()

/** @param {import('../node.js').RED} RED */
export function serveReports (RED) {
  const guard = guarded(RED.settings.sluice?.allowHosts)
  RED.httpNode?.use('/sluice/reports', (/** @type {any} */ request, /** @type {any} */ response, /** @type {() => void} */ next) => {
    guard(request, response, () => { answer(request, response).then(isAnswered => isAnswered || next()) })
  })
  servePost(RED, '/sluice-bench/:id/reports', async (request, response) => {
    const folder = servedFolders.get(request.params.id)
    if (folder === undefined) return response.sendStatus(404)
    response.json({ reports: await listed(RED, folder) })
  }, 'flows.read')
}

/**
 * Below the address of Node-RED; null where it serves no pages.
 * @param {import('../node.js').RED} RED @param {string} root @param {string} page
 */
export function linkTo ({ settings: { httpNodeRoot = '/' } }, root, page) {
  if (httpNodeRoot === false) return null
  return `${httpNodeRoot.replace(/\/$/, '')}/sluice/reports/${relative(root, page).split(sep).map(encodeURIComponent).join('/')}`
}

/**
 * The newest first.
 * @param {import('../node.js').RED} RED @param {string} root @returns {Promise<Listed[]>}
 */
async function listed (RED, root) {
  const names = await readdir(root).catch(() => [])
  const found = await Promise.all(names.flatMap(name => PAGES.map(async page => {
    const path = join(root, name, page)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }))
    return { path, mtimeMs, name }
  })))
  return found.filter(({ mtimeMs }) => mtimeMs > 0).sort((a, b) => b.mtimeMs - a.mtimeMs).slice(0, MAX_LISTED)
    .map(({ path, name }) => ({ name, link: linkTo(RED, root, path) }))
}

/** @param {{method: string, url: string}} request @param {any} response @returns {Promise<boolean>} */
async function answer ({ method, url }, response) {
  const [, folder, file] = PATH.exec(decoded(url.split('?')[0])) ?? []
  if (file === undefined || (method !== 'GET' && method !== 'HEAD')) return false
  for (const root of new Set(servedFolders.values())) {
    const body = await readFile(join(root, folder, file)).catch(() => null)
    if (body === null) continue
    response.writeHead(200, { ...HEADERS, 'Content-Type': TYPES[file.split('.')[1]] }).end(body)
    return true
  }
  return false
}

/** @param {string} path */
function decoded (path) {
  try {
    return decodeURIComponent(path)
  } catch {
    return '' // no browser asks so
  }
}

/**
 * The newest other run of the study in the folder; null where there is none.
 * @param {string} root @param {string} study @param {string} folder  of the one that is not meant
 */
export async function runBefore (root, study, folder) {
  const names = (await readdir(root).catch(() => [])).filter(name => name.startsWith(`${study}-`) && name !== basename(folder))
  const found = await Promise.all(names.map(async name => {
    const { mtimeMs } = await stat(join(root, name, 'result.json')).catch(() => ({ mtimeMs: 0 }))
    return { path: join(root, name), mtimeMs }
  }))
  return found.filter(({ mtimeMs }) => mtimeMs > 0).sort((a, b) => b.mtimeMs - a.mtimeMs)[0]?.path ?? null
}
