import { describe, SluiceError } from '../../base/errors.js'
import { serverTypes } from '../../databases/index.js'
import { duration } from '../../stats/format.js'
import { spaceAlarms } from '../../stats/host/alarms.js'
import { serverFacts } from '../databases/index.js'
import { nameOf } from '../flow.js'
import { note, ok, problem, warning } from '../finding.js'
import { said } from '../../stats/phrases.js'

/**
 * @typedef {import('../finding.js').Finding} Finding
 * @typedef {import('../databases/index.js').ServerFacts} ServerFacts
 * @typedef {import('../../databases/sink.js').Server} Server
 * @typedef {import('../../stats/phrases.js').Phrase} Phrase
 */

/** Samples carry this machine's time: a server that is further off drops what is "old", and compresses what is new, at the wrong time. */
const SKEW_MS = 2000

/** The servers of databases in the flow, over connections of their own. @type {import('../finding.js').Check} */
export const databases = {
  name: 'databases',
  title: 'Databases',
  limitMs: 45_000,
  async find (subject, signal) {
    const flow = await subject.flow
    if (!flow) return []
    const found = Object.keys(serverTypes).flatMap(type => flow.ofType(`sluice-${type}-server`).map(async node => {
      const { options, problems } = await flow.optionsOf(node)
      if (problems.length > 0) return [] // which the check of the flow tells
      const users = flow.usersOf(node.id).filter(each => each.type === `sluice-${type}`)
      const sinks = await Promise.all(users.map(async each => (await flow.optionsOf(each)).options))
      return serverFindings({ type, options, sinks, where: nameOf(node), signal })
    }))
    return (await Promise.all(found)).flat()
  }
}

/** @param {{type: string, options: object, sinks: Record<string, any>[], where: string, signal: AbortSignal}} asked */
async function serverFindings ({ type, options, sinks, where, signal }) {
  const [{ connect }, facts] = await Promise.all([serverTypes[type](), serverFacts[type]()])
  /** @type {Server|undefined} */
  let server
  try {
    server = connect(options)
    const reached = ok(await server.test({ signal }), where)
    const more = await Promise.all([skew(facts, server, where), rights(facts, server, sinks, where), disks(facts, server, where)])
    return [reached, ...more.flat()]
  } catch (error) {
    const { message, fix = '' } = error instanceof SluiceError ? error : { message: describe(error) }
    return [problem(message.replace(fix, '').trim(), where, fix || said`Check the server node and the server's log.`)]
  } finally {
    server?.close().catch(() => {}) // what it said is known already
  }
}

/** @param {ServerFacts} facts @param {Server} server @param {string} where @returns {Promise<Finding[]>} */
async function skew ({ timeMs, resolutionMs = 1 }, server, where) {
  const beforeMs = Date.now()
  const serverMs = await timeMs?.(server).catch(() => NaN) ?? NaN
  const afterMs = Date.now()
  if (Number.isNaN(serverMs)) return [note(said`It does not tell its time.`, where)]
  // Cut off to what it tells in, its time is on the mean half of that later.
  const aheadMs = serverMs + (resolutionMs > 1 ? resolutionMs / 2 : 0) - (beforeMs + afterMs) / 2
  const uncertainMs = (afterMs - beforeMs) / 2 + (resolutionMs > 1 ? resolutionMs / 2 : 0)
  if (Math.abs(aheadMs) <= SKEW_MS + uncertainMs) return []
  const off = duration(Math.abs(aheadMs))
  const what = aheadMs > 0 ? said`Its clock is ${off} ahead of this machine's.` : said`Its clock is ${off} behind this machine's.`
  return [warning(what, where, said`Have both set from the network: see the finding about the clock here, and timedatectl there.`)]
}

/**
 * @param {ServerFacts} facts
 * @param {Server} server
 * @param {Record<string, any>[]} sinks
 * @param {string} where
 * @returns {Promise<Finding[]>}
 */
async function rights (facts, server, sinks, where) {
  if (sinks.length === 0) return []
  const told = await facts.rights?.(server, sinks).catch(() => undefined)
  if (!told) return [note(said`It does not tell what its user may do: whether it may write shows when rows come.`, where)]
  const { lacking, isReadOnly, fix } = told
  return [
    ...isReadOnly ? [problem(said`It takes no writes: it is read-only, or a standby.`, where, said`Connect to the primary.`)] : [],
    ...lacking.length > 0 ? [lackFinding(lacking, where, fix)] : []
  ]
}

/** Who may not make tables can still store in those there are. @param {string[]} lacking @param {string} where @param {Phrase} fix */
function lackFinding (lacking, where, fix) {
  const grade = lacking.every(right => /^create/i.test(right)) ? warning : problem
  return grade(said`Its user lacks rights: ${lacking.join(', ')}.`, where, fix)
}

/** @param {ServerFacts} facts @param {Server} server @param {string} where @returns {Promise<Finding[]>} */
async function disks (facts, server, where) {
  const told = await facts.disks?.(server).catch(() => []) ?? []
  return told.flatMap(disk => spaceAlarms(disk).map(({ level, phrases: { what, fix } }) =>
    ({ level, what: said`${disk.name}: ${what}.`, where, fix })))
}
