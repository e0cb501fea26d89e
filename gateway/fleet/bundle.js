import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { SluiceError } from '../base/errors.js'
import { packaged } from '../base/packaged.js'
import { version } from '../base/version.js'
import { partsOf, textOf } from './parts.js'
import { exampleOf } from './secrets.js'

/**
 * A folder with all that makes one gateway like another: to be read, compared and kept under version control.
 *
 * @typedef {import('./parts.js').FlowNode} FlowNode
 * @typedef {import('./secrets.js').Secrets} Secrets
 * @typedef {object} Bundle
 * @property {FlowNode[]} nodes
 * @property {Secrets} secrets
 * @property {Map<string, Buffer>} files  such as DBC files, by their paths below the data folder
 * @property {string[]} elsewhere  files that the flow names and that are not in the data folder, or have a private key
 */

export const FORMAT = 1
export const MANIFEST = 'sluice.json'
const SECRETS = 'secrets.json'
const EXAMPLE = 'secrets.example'
const FILES = 'files'

/** What a data folder has besides, of Sluice and of Node-RED. */
const OWN_FOLDERS = ['sluice', 'node_modules', 'lib', 'context', 'projects']
const OWN_FILES = /^(flows[^/]*\.json|users\.json|applied\.json|settings\.js|package[^/]*\.json|credential-secret|gateway\.[^/]*)$/

/** A certificate's file may have its key as well. */
const PRIVATE_KEY = 'PRIVATE KEY-----'

/** Options that name a file which is read; others name what is written. @param {FlowNode} node */
const fileOptions = ({ type }) => ['dbcFile', 'logFile', 'ca', 'cert', ...type === 'sluice-csv' ? ['file'] : []]

/**
 * The files that a flow reads.
 * @param {FlowNode[]} nodes
 * @param {string} userDir
 * @returns {Pick<Bundle, 'files'|'elsewhere'>}
 */
export function filesOf (nodes, userDir) {
  const named = nodes.flatMap(node => fileOptions(node).map(option => node[option]))
    .filter(value => typeof value === 'string' && value !== '' && !/\n|^\$\{/.test(value))
  /** @type {Bundle['files']} */
  const files = new Map()
  const elsewhere = []
  for (const name of /** @type {string[]} */ ([...new Set(named)]).sort()) {
    const path = resolve(userDir, name)
    const inside = relative(resolve(userDir), path).split(sep).join('/')
    const bytes = isFile(path) && isPortable(inside) ? readFileSync(path) : null
    if (bytes && !bytes.includes(PRIVATE_KEY)) files.set(inside, bytes)
    else if (isAbsolute(name) || !existsSync(packaged(name))) elsewhere.push(name)
  }
  return { files, elsewhere }
}

/** Replaces what was exported there before. @param {string} folder @param {Bundle} bundle */
export async function writeBundle (folder, { nodes, secrets, files, elsewhere }) {
  const parts = partsOf(nodes)
  /** @type {Map<string, string|Buffer>} */
  const contents = new Map(Array.from(parts, ([path, part]) => /** @type {const} */ ([path, textOf(part)])))
  for (const [path, bytes] of files) contents.set(`${FILES}/${path}`, bytes)
  contents.set(SECRETS, json(secrets))
  contents.set(EXAMPLE, exampleOf(nodes, secrets))
  const manifest = { format: FORMAT, version, flows: [...parts.keys()], files: [...files.keys()], elsewhere }
  for (const path of await formerPaths(folder)) if (!contents.has(path)) await rm(join(folder, path), { force: true })
  for (const [path, content] of contents) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  await writeFile(join(folder, MANIFEST), json(manifest))
}

/** @param {string} folder */
export async function readManifest (folder) {
  const manifest = readJson(await text(folder, MANIFEST), MANIFEST)
  const { format, flows, files, elsewhere = [] } = manifest ?? {}
  if (format !== FORMAT) throw wrong(MANIFEST, `has the format ${format}, and this version reads ${FORMAT}`)
  for (const [name, list] of Object.entries({ flows, files, elsewhere })) {
    if (!Array.isArray(list) || !list.every(path => typeof path === 'string')) throw wrong(MANIFEST, `has no list of ${name}`)
  }
  const strange = [...flows, ...files].find(path => !isPortable(path))
  if (strange !== undefined) throw wrong(MANIFEST, `names ${JSON.stringify(strange)}, which may not be written`)
  return /** @type {{flows: string[], files: string[], elsewhere: string[]}} */ ({ flows, files, elsewhere })
}

/** @param {string} folder  @param {string[]} paths @returns {Promise<FlowNode[]>} */
export async function readNodes (folder, paths) {
  const nodes = await Promise.all(paths.map(async path => {
    const part = readJson(await text(folder, path), path)
    if (!Array.isArray(part)) throw wrong(path, 'is no list of nodes')
    const strange = part.find(node => typeof node?.id !== 'string' || node.id === '' || typeof node.type !== 'string')
    if (strange !== undefined) throw wrong(path, `has a node without id or type: ${JSON.stringify(strange).slice(0, 100)}`)
    return part
  }))
  return nodes.flat()
}

/** @param {string} folder @returns {Promise<Secrets>} */
export async function readSecrets (folder) {
  const secrets = readJson(await text(folder, SECRETS), SECRETS)
  if (typeof secrets !== 'object' || secrets === null || Array.isArray(secrets)) throw wrong(SECRETS, 'is no object')
  return secrets
}

/** @param {string} folder @param {string[]} paths @returns {Promise<Bundle['files']>} */
export async function readFiles (folder, paths) {
  return new Map(await Promise.all(paths.map(async path => {
    return /** @type {const} */ ([path, Buffer.from(await readFile(join(folder, FILES, path)).catch(cause => {
      throw wrong(`${FILES}/${path}`, 'cannot be read', cause)
    }))])
  })))
}

/** @param {string} path @param {string} what @param {unknown} [cause] */
export function wrong (path, what, cause) {
  return new SluiceError('SLUICE_APPLY_INPUT', `${path} ${what}. Nothing was changed.`, {
    fix: 'Mend it, or export again with sluice export.', cause
  })
}

/** Below a folder, and none of the gateway's own. @param {string} path */
function isPortable (path) {
  const parts = path.split('/')
  const isOwn = OWN_FOLDERS.includes(parts[0]) || OWN_FILES.test(path)
  return !isAbsolute(path) && !isOwn && parts.every(part => part !== '' && !part.startsWith('.') && !part.includes('\\'))
}

/** @param {string} folder */
async function formerPaths (folder) {
  if (!existsSync(join(folder, MANIFEST))) return []
  const { flows, files } = await readManifest(folder)
  return [...flows, ...files.map(path => `${FILES}/${path}`)]
}

/** @param {string} folder @param {string} path */
async function text (folder, path) {
  return readFile(join(folder, path), 'utf8').catch(cause => { throw wrong(path, 'cannot be read', cause) })
}

/** @param {string} content @param {string} path */
function readJson (content, path) {
  try {
    return JSON.parse(content)
  } catch (cause) {
    throw wrong(path, `is no JSON: ${/** @type {Error} */ (cause).message}`, cause)
  }
}

/** @param {object} value */
function json (value) {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** @param {string} path */
function isFile (path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
