import { isIP } from 'node:net'
import { join } from 'node:path'
import { describe, SluiceError } from '../base/errors.js'
import { PRIVATE_FILE } from '../base/files.js'
import { setCan } from './can.js'
import { setCertificate } from './certificate.js'
import { setUser } from './editor.js'
import { setConfig, setSerial } from './firmware.js'
import { setGateway } from './gateway.js'
import { Files, SETTINGS_FILE, STATE } from './host.js'
import { setEthernet, setWifi } from './network.js'
import { UserDir } from './owner.js'
import { reportText, screenText } from './report.js'
import { setHostName, setReadOnlyRoot, setSshKeys, setTimeServers, setTimeZone } from './system.js'
import { readSettings } from './toml.js'

/**
 * @typedef {import('./host.js').Host} Host
 * @typedef {import('./toml.js').Part} Part
 * @typedef {import('./toml.js').Settings} Settings
 */

const USER_DIR = '/var/lib/sluice'
const REPORT_FILE = 'sluice-first-boot.txt'
/** Of the sluice.toml that could be read last. */
const LAST_SETTINGS = `${STATE}/sluice.toml`
/** There from the beginning to the end of a start, and to the next where a program has failed. */
const BEGUN = `${STATE}/begun`
/** What a terminal shows above its login: it is in memory, and goes with the power. */
const ISSUE = '/run/issue.d/sluice.issue'
const PORT = 1880

/** @type {Part} */
const NOTHING = { values: {}, given: new Set(), wrong: new Set() }

/** @type {[section: string, key: string, set: (host: Host, part: Part) => Promise<void>][]} */
const SINGLE = [
  ['system', 'host_name', setHostName],
  ['system', 'time_zone', setTimeZone],
  ['system', 'ntp_servers', setTimeServers],
  ['ssh', 'keys', setSshKeys],
  ['system', 'read_only_root', setReadOnlyRoot]
]

/** @type {[section: string, set: (host: Host, part: Part|undefined) => Promise<void>][]} */
const WHOLE = [['ethernet', setEthernet], ['wifi', setWifi], ['serial', setSerial]]

/**
 * Sets a machine up as its sluice.toml says, and sees to it that it has a login and a certificate of its own. It may run at each start:
 * what is so already stays. What is wrong is reported, and the rest holds; where a part is wrong, it stays as it was.
 * @param {{root: string, boot: string, run: import('./host.js').Run}} options
 * @returns {Promise<{text: string, secret: string, isRight: boolean}>} what to tell, and for the screen alone: with the random password, as
 *   long as it holds
 */
export async function firstBoot ({ root: rootFolder, boot: bootFolder, run }) {
  /** @type {string[]} */
  const set = []
  /** @type {string[]} */
  const problems = []
  let isRestartNeeded = false
  let hasFailed = false
  /** @type {Host} */
  const host = {
    root: new Files(rootFolder),
    boot: new Files(bootFolder),
    run: async (...command) => {
      try {
        await run(...command)
      } catch (error) {
        hasFailed = true
        throw error
      }
    },
    needsRestart: () => { isRestartNeeded = true },
    done: text => { set.push(text) },
    wrong: error => { problems.push(describe(error)) },
    step: async act => {
      try {
        return await act()
      } catch (error) {
        host.wrong(error)
      }
    }
  }
  const { root, boot, step } = host
  const userDir = new UserDir(join(rootFolder, USER_DIR))
  // A file may be written, and the program that belongs to it not have run.
  root.isUnfinished = await step(() => root.readIfThere(BEGUN)) !== null
  await step(() => root.write(BEGUN, ''))
  const settings = await settingsOf(host)
  const { parts } = settings
  for (const [section, key, apply] of SINGLE) {
    const part = parts[section][0] ?? NOTHING
    if (!part.wrong.has(key)) await step(() => apply(host, part))
  }
  for (const [section, apply] of WHOLE) {
    const [part] = parts[section]
    if (!part || part.wrong.size === 0) await step(() => apply(host, part))
  }
  await step(() => setCan(host, parts.can))
  const [system = NOTHING] = parts.system
  if (!system.wrong.has('config_txt') && parts.can.every(({ wrong }) => wrong.size === 0)) {
    await step(() => setConfig(host, system.values.config_txt ?? [], parts.can))
  }
  await step(() => userDir.make(host))

  const names = namesOf(await root.read('/etc/hostname'), parts)
  const tls = await step(() => setCertificate(host, names))
  const editor = { url: `https://${names[0]}:${PORT}/`, fingerprint: tls?.fingerprint ?? 'not made' }
  await step(() => root.write(`${STATE}/sluice.env`, environment(parts.editor[0]?.values.names)))
  const random = await step(() => setUser(host, userDir, parts.editor[0]?.values.password, editor))
  await step(() => setGateway(host, userDir, parts, tls))
  await step(async () => {
    if (settings.isReadable) await root.write(LAST_SETTINGS, await boot.read(SETTINGS_FILE), PRIVATE_FILE)
  })

  const report = { editor, set, problems }
  await step(() => boot.write(REPORT_FILE, reportText(report)))
  const secret = screenText(report, random ?? null)
  await step(() => root.write(ISSUE, `${secret}\n`, PRIVATE_FILE))
  if (!hasFailed) await step(() => root.write(BEGUN, null))
  if (isRestartNeeded) await step(() => run('systemctl', '--no-block', 'reboot'))
  return { text: reportText(report), secret, isRight: problems.length === 0 }
}

/**
 * Those of the last start, where those of now cannot be read: a card that is failing takes no network away.
 * @param {Host} host
 * @returns {Promise<Settings>}
 */
async function settingsOf ({ root, boot, wrong, step }) {
  const text = await step(() => boot.readIfThere(SETTINGS_FILE))
  const last = await step(() => root.readIfThere(LAST_SETTINGS))
  if (text === null && await step(() => boot.readIfThere('user-data'))) {
    wrong(new SluiceError('SLUICE_FIRST_BOOT', 'What user-data says (cloud-init) is not read here.', {
      fix: `Write it into ${SETTINGS_FILE} beside it: docs/deploy.md has a template.`
    }))
  }
  if (text === null && last) {
    wrong(new SluiceError('SLUICE_FIRST_BOOT', `There is no ${SETTINGS_FILE} on the boot partition: what it said last holds on.`, {
      fix: 'Copy it there again; an empty one takes everything back.'
    }))
  }
  const settings = readSettings(text ?? '')
  settings.problems.forEach(wrong)
  return text != null && settings.isReadable ? settings : { ...readSettings(last ?? ''), isReadable: false }
}

/** Under which the editor is reached; the first is the one to tell. @param {string} hostName @param {Record<string, Part[]>} parts */
function namesOf (hostName, parts) {
  const full = hostName.trim() || 'sluice'
  const [short] = full.split('.')
  const fixed = [...parts.ethernet, ...parts.wifi].map(({ values: { address = '' } }) => address.split('/')[0]).filter(isIP)
  return [...new Set([`${short}.local`, short, full, ...parts.editor[0]?.values.names ?? [], 'localhost', '127.0.0.1', ...fixed])]
}

/** Options of `sluice start`. @param {string[]} [names] */
function environment (names = []) {
  return [
    'SLUICE_HOST=0.0.0.0',
    `SLUICE_TLS_CERT=${STATE}/tls.crt`,
    `SLUICE_TLS_KEY=${STATE}/tls.key`,
    ...names.length > 0 ? [`SLUICE_ALLOW_HOST=${names.join(' ')}`] : [],
    ''
  ].join('\n')
}
