import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { secretsIn } from '../../base/credentials.js'
import { withoutSecrets } from '../../base/secrets.js'
import { readFlow } from '../flow.js'

/**
 * Takes secrets out of the texts of a bundle: those that this machine keeps, wherever they have got to, and what looks like one.
 *
 * @typedef {import('../subject.js').Subject} Subject
 * @typedef {Record<string, string|undefined>} Variables
 */

/** A shorter one cannot be told from other text. */
const MIN_CHARACTERS = 5
const SECRET_NAME = /pass|pwd|pw$|secret|token|key|login|credential|auth/i
const SETTINGS = '/etc/sluice'
/** What Node-RED keeps among passwords, and is none. */
const NO_SECRETS = ['user', 'username']
const USER_LINE = /^[^:\s]+:(?:view|change|gateway|consumer[^:]*|reader|other):(.+)$/
const IN_ADDRESS = /:\/\/[^\s/@:"]*:([^\s@"]+)@/g
const HIDDEN = '…'
const PRIVATE_KEY = /(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g

/**
 * All secrets that can be found on this machine, longest first.
 * @param {Subject} subject
 * @returns {Promise<string[]>}
 */
export async function knownSecrets (subject) {
  const variables = subject.environment
  const values = [
    ...await credentialsOf(subject, variables),
    ...await inVariables(variables),
    ...await inSettings(join(subject.place.root ?? '', SETTINGS)),
    ...await inUserDir(subject.userDir)
  ]
  const secrets = values.map(value => value.trim()).filter(value => value.length >= MIN_CHARACTERS)
  return [...new Set(secrets.flatMap(forms))].sort((a, b) => b.length - a.length)
}

/** The text of a file without them. @param {unknown} content  a text, or what becomes JSON @param {string[]} secrets */
export function hideSecrets (content, secrets) {
  const cleaned = withoutSecrets(content)
  const text = typeof cleaned === 'string' ? cleaned : `${JSON.stringify(cleaned, null, 2)}\n`
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text).replace(PRIVATE_KEY, `$1${HIDDEN}$2`)
}

/** @param {Subject} subject @param {Variables} variables @returns {Promise<string[]>} */
async function credentialsOf ({ flowFile, place, credentials: stored }, variables) {
  const nodes = await readFlow(flowFile).catch(() => null) ?? []
  const exported = nodes.map(({ credentials }) => credentials) // of a file that was exported with them
  const kept = place.credentialsOf
    ? nodes.map(({ id }) => place.credentialsOf?.(id))
    : Object.values(stored ?? {})
  const inAddresses = Array.from(JSON.stringify(nodes).matchAll(IN_ADDRESS), ([, password]) => password)
  const texts = [...exported, ...kept].flatMap(textsIn)
  return [...inAddresses, ...texts.flatMap(text => {
    const variable = /^\$\{(\S+)\}$/.exec(text)?.[1]
    return variable ? variables[variable] ?? [] : [...text.split(/\r?\n/), ...passwordsIn(text)]
  })]
}

/** All texts in what Node-RED keeps of a node. @param {unknown} value @returns {string[]} */
function textsIn (value) {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => NO_SECRETS.includes(name) ? [] : textsIn(each))
}

/** Of NAME:ROLE:PASSWORD, a line each. @param {string} text */
function passwordsIn (text) {
  return text.split(/\r?\n/).flatMap(line => USER_LINE.exec(line)?.[1] ?? [])
}

/** By their names; some name a file that holds it. @param {Variables} variables @returns {Promise<string[]>} */
async function inVariables (variables) {
  const its = Object.entries(variables).filter(([name]) => SECRET_NAME.test(name.replace(/_FILE$/, '')))
  return (await Promise.all(its.map(async ([name, value = '']) => {
    const text = name.endsWith('_FILE') ? await textOf(value) : value
    return [...passwordsIn(text), text]
  }))).flat()
}

/** @param {string} folder @returns {Promise<string[]>} */
async function inSettings (folder) {
  const variables = (await textOf(join(folder, 'sluice.env'))).split(/\r?\n/).flatMap(line => {
    const [, name, value] = /^\s*(\w+)=["']?(.*?)["']?\s*$/.exec(line) ?? []
    return name === undefined ? [] : [[name, value]]
  })
  return [
    await textOf(join(folder, 'metrics-token')),
    ...passwordsIn(await textOf(join(folder, 'login'))),
    ...await inVariables(Object.fromEntries(variables))
  ]
}

/** Hashes of passwords, logins that are remembered, and what the flow's passwords are encrypted with. @param {string} userDir */
async function inUserDir (userDir) {
  const [users, sessions] = await Promise.all(['users.json', '.sessions.json'].map(name => textOf(join(userDir, name))))
  return [
    ...Array.from(users.matchAll(/"password":\s*"([^"]+)"/g), ([, hash]) => hash),
    ...Array.from(sessions.matchAll(/"accessToken":\s*"([^"]+)"/g), ([, token]) => token),
    ...secretsIn(userDir)
  ]
}

/** As it is written in addresses, JSON and headers, too. @param {string} secret */
function forms (secret) {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '')
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64]
}

/** Empty where it cannot be read. @param {string} path */
function textOf (path) {
  return readFile(path, 'utf8').catch(() => '')
}
