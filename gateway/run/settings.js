import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownSecret } from '../base/credentials.js'
import { SluiceError } from '../base/errors.js'
import { PRIVATE_FOLDER } from '../base/files.js'
import { checkFlow, copyFirstFlow } from './first-flow.js'

export const PACKAGE_ROOT = fileURLToPath(new URL('../..', import.meta.url))

const DEFAULT_FLOW = join(PACKAGE_ROOT, 'flows', 'flows.json')

/**
 * Node-RED's settings for the gateway: nothing sent home, nothing installed from the editor.
 * @param {object} options
 * @param {string} options.userDir
 * @param {string} [options.flowFile]  read and, when edited, written; without it the user folder's own
 * @param {string} [options.firstFlow]  what that is at first a copy of; without it the default flow
 * @param {string} options.host
 * @param {number} options.port
 * @param {object} [options.adminAuth]  who may use the editor; without it everybody who reaches it
 * @param {readonly string[]} [options.allowHosts]  names under which the gateway is reached, besides the machine's own
 * @param {(line: string) => void} options.log
 */
export function gatewaySettings ({ userDir, flowFile, firstFlow = DEFAULT_FLOW, host, port, adminAuth, allowHosts = [], log }) {
  mkdirSync(userDir, { recursive: true, mode: PRIVATE_FOLDER })
  const path = flowFile ? givenFlowFile(flowFile) : ownFlowFile(userDir, firstFlow)
  checkFlow(path)
  return {
    userDir,
    nodesDir: [PACKAGE_ROOT],
    flowFile: path,
    flowFilePretty: true,
    credentialSecret: ownSecret(userDir),
    uiHost: host,
    uiPort: port,
    httpAdminRoot: '/',
    httpNodeRoot: '/',
    ...(adminAuth ? { adminAuth } : {}),
    sluice: { allowHosts },
    telemetry: { enabled: false, updateNotification: false },
    externalModules: {
      autoInstall: false,
      palette: { allowInstall: false, allowUpload: false },
      modules: { allowInstall: false }
    },
    functionExternalModules: false,
    nodeCloseTimeout: 12_000,
    paletteCategories: [
      'sluice sources', 'sluice fieldbus', 'sluice staging', 'sluice databases', 'sluice operations',
      'subflows', 'common', 'function', 'network', 'sequence', 'parser', 'storage'
    ],
    editorTheme: {
      page: { title: 'Sluice' },
      header: { title: 'Sluice' },
      projects: {},
      tours: false
    },
    logging: { console: { level: 'warn', metrics: false, audit: false, handler: () => logTo(log) } }
  }
}

/**
 * @typedef {{level: number, msg: unknown, type?: string, name?: string, id?: string, timestamp: number}} LogEntry  as Node-RED hands it
 *   over
 */

const ERROR = 20

/** What Node-RED warns of whenever a flow has no passwords: nothing is wrong then. */
const NO_PASSWORDS = 'Encrypted credentials not found'

/** @param {(line: string) => void} log */
function logTo (log) {
  return (/** @type {LogEntry} */ entry) => {
    if (entry.msg !== NO_PASSWORDS) log(logLine(entry))
  }
}

/** One line, but for a stack: "12:03:04 warn  sluice-sqlite:machine  text". @param {LogEntry} entry */
export function logLine ({ level, msg, type, name, id, timestamp }) {
  const time = new Date(timestamp).toTimeString().slice(0, 8)
  const who = type ? `${type}:${name || id}  ` : ''
  return escaped(`${time} ${level <= ERROR ? 'error' : 'warn '} ${who}${msg instanceof Error ? msg.stack ?? msg : textOf(msg)}`)
}

/** Others choose names that are logged: none begins a line, moves the cursor or turns the text round. @param {string} line */
function escaped (line) {
  return line.replace(/(?!\n {4}at )[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, character => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** @param {unknown} msg */
function textOf (msg) {
  return typeof msg === 'object' ? JSON.stringify(msg) : String(msg)
}

/** @param {string} file */
function givenFlowFile (file) {
  const path = resolve(file)
  if (existsSync(path)) return path
  throw new SluiceError('SLUICE_FLOW_FILE', `There is no flow file ${path}.`, {
    fix: 'Give --flows the path of a file exported from the editor.'
  })
}

/** @param {string} userDir @param {string} firstFlow */
function ownFlowFile (userDir, firstFlow) {
  const path = join(userDir, 'flows.json')
  if (!existsSync(path)) copyFirstFlow(firstFlow, path)
  return path
}
