import { existsSync, readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { credentialFile, encryptCredentials, ownSecret, readCredentials, secretsIn } from '../base/credentials.js'
import { namingDisk } from '../base/disk-full.js'
import { SluiceError } from '../base/errors.js'
import { makePrivateFolder, replaceFile } from '../base/files.js'
import { lockUserDir } from '../run/user-dir-lock.js'
import { defaultFlow, isEdited, isUnfinished, rememberApplied, rememberBegun } from './applied.js'
import { changesOf, isNothing } from './changes.js'
import { readBundle } from './check.js'
import { hashOf, textOf } from './parts.js'
import { RunningGateway } from './running.js'
import { checkSecrets, valuesFor, withNewer } from './secrets.js'
import { warningsOf } from './warnings.js'

/**
 * @typedef {import('./parts.js').FlowNode} FlowNode
 * @typedef {import('./bundle.js').Bundle} Bundle
 * @typedef {import('../base/credentials.js').Credentials} Credentials
 * @typedef {object} ApplyOptions
 * @property {string} folder  of the bundle
 * @property {string} userDir
 * @property {string} [flowFile]  of the gateway, where it is not the data folder's own
 * @property {string} [url]  of the gateway, where it runs
 * @property {{user?: string, password?: string}} [login]
 * @property {string} [secretsFile]
 * @property {boolean} [isTrial]  changes nothing
 * @property {boolean} [isOverwriting]  also what was edited here
 */

/**
 * Makes a gateway what a bundle says. All is checked before anything is changed. What is on the machine alone stays: its id, spools, users,
 * and secrets that are not given.
 * @param {ApplyOptions} options
 * @returns {Promise<{changes: import('./changes.js').Changes, warnings: string[]}>}
 * @throws {SluiceError} SLUICE_APPLY_INPUT, SLUICE_APPLY_SECRETS, SLUICE_APPLY_EDITED, SLUICE_APPLY_CHANGED, SLUICE_APPLY_GATEWAY,
 *   SLUICE_CREDENTIALS, SLUICE_USER_DIR_IN_USE, SLUICE_DISK_FULL
 */
export async function apply (options) {
  const { folder, url, login = {}, isTrial = false } = options
  const bundle = await readBundle(folder)
  const userDir = resolve(options.userDir)
  const flowFile = resolve(options.flowFile ?? join(userDir, 'flows.json'))
  if (url !== undefined) return applyTo(await RunningGateway.connect(url, login), bundle, { ...options, userDir, flowFile })
  if (isTrial && !existsSync(userDir)) return applyTo(null, bundle, { ...options, userDir, flowFile })
  await makePrivateFolder(userDir)
  const unlock = lockUserDir(userDir)
  try {
    return await applyTo(null, bundle, { ...options, userDir, flowFile })
  } finally {
    unlock()
  }
}

/**
 * @param {RunningGateway|null} running  null where none runs, and none can start meanwhile
 * @param {Bundle} bundle
 * @param {ApplyOptions & {flowFile: string}} options
 */
async function applyTo (running, bundle, { userDir, flowFile, secretsFile, isTrial, isOverwriting }) {
  const { nodes, secrets, files } = bundle
  const kept = existsSync(flowFile) ? /** @type {FlowNode[]} */ (JSON.parse(await readFile(flowFile, 'utf8'))) : defaultFlow()
  const { nodes: before, revision = '' } = await running?.read() ?? { nodes: kept }
  if (hashOf(before) !== hashOf(kept)) throw otherFolder(flowFile)
  const credentials = readCredentials(userDir, flowFile)
  const given = valuesFor(secrets, { file: secretsFile })
  // All that a node has: some lose in Node-RED what is not said again.
  const values = Object.fromEntries(Object.entries(given).map(([id, options]) => [id, withNewer(credentials[id], options)]))
  const all = { ...credentials, ...values }
  const fileAt = (/** @type {string} */ path) => isFile(join(userDir, path)) ? readFileSync(join(userDir, path)) : null
  const changes = changesOf({ nodes: before, credentials, fileAt, isUnfinished: isUnfinished(userDir) }, { nodes, files, values })
  checkSecrets(nodes, secrets, all)
  const missingTypes = await running?.missingTypes(nodes) ?? []
  if (missingTypes.length > 0) throw unknownTypes(missingTypes)
  const isFlowSame = hashOf(before) === hashOf(nodes)
  const isLoss = !isFlowSame && !isOverwriting && isEdited(userDir, before)
  if (isLoss && !isTrial) throw edited()
  const warnings = [...isLoss ? [edited().message] : [], ...await warningsOf(changes.removed, bundle.elsewhere, userDir)]
  if (isTrial) return { changes, warnings }

  try {
    if (!isNothing(changes)) {
      await rememberBegun(userDir, nodes)
      for (const { path } of changes.files) {
        await makePrivateFolder(dirname(join(userDir, path)))
        await replaceFile(join(userDir, path), files.get(path) ?? '')
      }
      if (running) await running.write(nodes, values, { revision, isFull: changes.files.length > 0 || changes.isUnfinished })
      else await write(nodes, { userDir, flowFile, credentials: all })
    }
    await rememberApplied(userDir, nodes)
  } catch (error) {
    throw namingDisk(error, userDir)
  }
  return { changes, warnings }
}

/**
 * The flow last: until then, whatever happens, the former one has all that it needs.
 * @param {FlowNode[]} nodes
 * @param {{userDir: string, flowFile: string, credentials: Credentials}} more
 */
async function write (nodes, { userDir, flowFile, credentials }) {
  const needed = Object.fromEntries(nodes.flatMap(({ id }) => credentials[id] ? [[id, credentials[id]]] : []))
  if (Object.keys(credentials).length > 0) await writeCredentials(userDir, flowFile, credentials)
  await replaceFile(flowFile, textOf(nodes))
  if (Object.keys(needed).length < Object.keys(credentials).length) await writeCredentials(userDir, flowFile, needed)
}

/** @param {string} userDir @param {string} flowFile @param {Credentials} credentials */
function writeCredentials (userDir, flowFile, credentials) {
  const [secret = ownSecret(userDir)] = secretsIn(userDir)
  return replaceFile(credentialFile(userDir, flowFile), encryptCredentials(credentials, secret))
}

/** @param {string} path */
function isFile (path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

/** @param {string} flowFile */
function otherFolder (flowFile) {
  return new SluiceError('SLUICE_APPLY_GATEWAY', `The gateway does not run the flow in ${flowFile}.`, {
    fix: 'Give the --user-dir (or --flows) of the gateway at --url.'
  })
}

/** @param {string[]} types */
function unknownTypes (types) {
  return new SluiceError('SLUICE_APPLY_INPUT', `The gateway has no nodes of type ${types.join(', ')}. Nothing was changed.`, {
    fix: 'Install what brings them first: with one of them missing, no flow starts.'
  })
}

function edited () {
  return new SluiceError('SLUICE_APPLY_EDITED', 'The flow of this gateway was edited since the last apply. Nothing was changed.', {
    fix: 'See what with --dry-run; export it to keep it, or give it up with --overwrite.'
  })
}
