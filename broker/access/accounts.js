import { SluiceError } from '../../gateway/base/errors.js'
import { filters, isForTopic, level, ROOT } from '../topics.js'

/**
 * Who may do what on a broker: as little as each needs. The first level of a topic says who may write there (docs/protocol.md).
 *
 * @typedef {'read'|'write'|'readwrite'} Access
 * @typedef {{access: Access, filter: string}} Rule
 *
 * @typedef {object} Account
 * @property {string} name  of a gateway, its id
 * @property {'gateway'|'consumer'|'reader'|'other'} role  a gateway stages, and stores what it has staged; a consumer is a gateway that
 *   stores what others stage, too, and has them wait for that; a reader reads along; all others have only what they are granted
 * @property {string[]} groups  of a consumer: for whose sinks it speaks as well
 *
 * @typedef {Rule & {name: string}} Grant  of topics beside the protocol's, to an account
 */

const ACCOUNT = /^([^\s:+#/]{1,64}):(?:(gateway|reader|other)|(consumer)((?:\/[^/:\p{Cc}]+)*))$/u
const GRANT = /^(\S+) (read|write|readwrite) (\S.*)$/
const FILTER = /^(?:[^+#\p{Cc}/]*|\+)(?:\/(?:[^+#\p{Cc}/]*|\+))*(?:\/#)?$/u
/** Levels of the protocol's shortest topics. */
const LEVELS = 5

/** @param {string} text  `NAME:ROLE` @returns {Account} @throws {SluiceError} SLUICE_BROKER_ACCOUNT */
export function readAccount (text) {
  const [, name, role, consumer, groups = ''] = ACCOUNT.exec(text) ?? []
  if (name === undefined) {
    throw new SluiceError('SLUICE_BROKER_ACCOUNT', `"${text}" is no account.`, {
      fix: 'Write NAME:ROLE, where the role is gateway, consumer, consumer/GROUP, reader or other; no spaces, +, # or / in the name.'
    })
  }
  return { name, role: /** @type {Account['role']} */ (role ?? consumer), groups: groups.split('/').filter(Boolean) }
}

/** @param {string} text  `NAME ACCESS TOPIC` @param {Account[]} accounts @returns {Grant} @throws {SluiceError} SLUICE_BROKER_ACCOUNT */
export function readGrant (text, accounts) {
  const [, name, access, filter = ''] = GRANT.exec(text) ?? []
  const refused = (/** @type {string} */ why) => new SluiceError('SLUICE_BROKER_ACCOUNT', `"${text}" cannot be granted: ${why}.`, {
    fix: 'Write NAME read|write|readwrite TOPIC, where TOPIC may have the wildcards + and #, and is outside of sluice/v2.'
  })
  if (name === undefined || !FILTER.test(filter)) throw refused('it does not have that form')
  if (!accounts.some(account => account.name === name)) throw refused(`there is no account ${name}`)
  if (reachesProtocol(filter)) throw refused('it reaches into sluice/v2, where roles say who may do what')
  return { name, access: /** @type {Access} */ (access), filter }
}

/** Of each account, its own rules. @param {Account[]} accounts @param {Grant[]} grants @returns {Map<string, Rule[]>} by name */
export function rulesOf (accounts, grants) {
  const announcing = accounts.filter(({ role }) => role === 'consumer').flatMap(({ name, groups }) => [name, ...groups.map(groupOf)])
  const lists = [...new Set(announcing)].map(consumer => ({ access: /** @type {const} */ ('read'), filter: filters.sinksOf(consumer) }))
  return new Map(accounts.map(account => [account.name, [
    { access: 'read', filter: '$SYS/broker/version' },
    ...roles[account.role](account),
    ...account.role === 'gateway' || account.role === 'consumer' ? lists : [],
    ...grants.filter(({ name }) => name === account.name)
  ]]))
}

/** @param {Rule[]|undefined} rules @param {'read'|'write'} access @param {string} topic */
export function allows (rules, access, topic) {
  const denied = access === 'read' ? 'write' : 'read'
  return rules?.some(rule => rule.access !== denied && isForTopic(rule.filter, topic)) ?? false
}

/** @type {Record<Account['role'], (account: Account) => Rule[]>} */
const roles = {
  // Its list of sinks is for its own readers: nobody else may read it, and so wait for those sinks.
  gateway: ({ name }) => [
    { access: 'read', filter: `${ROOT}/${level(name)}/#` },
    ...writes(name, ['data/+', 'head/+', 'resent/+/+', 'echo/+', 'preflight/#', 'sinks/+', `resend/+/${level(name)}`]),
    { access: 'read', filter: filters.commits(name) },
    { access: 'read', filter: filters.resends(name) }
  ],
  consumer: account => [
    ...roles.gateway(account),
    { access: 'read', filter: filters.data('+', '+') },
    { access: 'read', filter: filters.heads('+') },
    ...[account.name, ...account.groups.map(groupOf)].flatMap(speaksFor)
  ],
  reader: () => [{ access: 'read', filter: `${ROOT}/#` }],
  other: () => []
}

/** @param {string} group */
function groupOf (group) { return `group:${group}` }

/** @param {string} consumer @returns {Rule[]} */
function speaksFor (consumer) {
  return [
    { access: 'read', filter: `${ROOT}/+/resent/${level(consumer)}/+` },
    ...writes(consumer, ['sinks/+', 'commit/+/+', 'resend/+/+'])
  ]
}

/** @param {string} writer @param {string[]} topics @returns {Rule[]} */
function writes (writer, topics) {
  return topics.map(topic => ({ access: 'write', filter: `${ROOT}/${level(writer)}/${topic}` }))
}

/** @param {string} filter */
function reachesProtocol (filter) {
  const levels = filter.split('/')
  const isOpen = levels.at(-1) === '#'
  const isMet = ROOT.split('/').every((want, i) => ['+', '#', want, undefined].includes(levels[i]))
  return isMet && (isOpen || levels.length >= LEVELS)
}
