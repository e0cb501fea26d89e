import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseTypes } from '../databases/index.js'
import { BALANCE_PATH, CHANGED } from './flow.js'
import { brokers } from './brokers.js'
import { Site } from './site.js'
import { Victim } from './victim.js'

/**
 * @typedef {import('../databases/index.js').Database} Database
 *
 * @typedef {object} RigOptions
 * @property {string} folder  an empty one
 * @property {import('./brokers.js').BrokerName} broker
 * @property {string[]} sinks  types of databases
 * @property {number} gateways  with the same flow, each with databases of its own; all store what all produce
 * @property {boolean} changes  a further SQLite sink stores what a flow has changed
 * @property {number} rate  rows a second of the simulated machine
 * @property {number} seed
 * @property {(error: unknown) => void} onCrash  a gateway ended by itself
 */

/**
 * All that a run needs, running: gateways with their flow, the broker, the databases; and a ledger of all that the gateways' spools accept.
 */
export class Rig {
  #broker
  /** @type {Site[]} */
  sites = []
  /** @type {Record<string, Victim>} */
  victims

  /** @param {string} title @param {import('./brokers.js').Broker} broker */
  constructor (title, broker) {
    this.#broker = broker
    this.victims = { broker: new Victim(title, broker) }
  }

  /** @param {RigOptions} options */
  static async open ({ folder, broker: brokerName, sinks, gateways, changes, ...options }) {
    await chmod(folder, 0o711) // a server may run as another user, who must get through
    const broker = await brokers[brokerName].start(join(folder, brokerName))
    const rig = new Rig(brokers[brokerName].title, broker)
    try {
      for (let number = 1; number <= gateways; number++) {
        const name = nameIn(number - 1, 'gateway')
        const site = new Site({ ...options, name, folder: join(folder, name), broker })
        rig.sites.push(site)
        await mkdir(site.folder, { mode: 0o711 })
        for (const type of changes ? [...sinks, CHANGED] : sinks) {
          const { title, start } = await databaseTypes[type === CHANGED ? 'sqlite' : type]()
          const databaseFolder = join(site.folder, type)
          await mkdir(databaseFolder)
          const database = site.databases[type] = await start(databaseFolder)
          if (!database.process) continue
          rig.victims[nameIn(number - 1, type)] = new Victim(number === 1 ? title : `${title} ${number}`, database.process)
        }
        rig.victims[site.name] = new Victim(number === 1 ? 'gateway' : `gateway ${number}`, site.gateway)
      }
      return rig
    } catch (error) {
      await rig.close()
      throw error
    }
  }

  /** The names of the databases' servers among the victims. */
  get servers () {
    return Object.keys(this.victims).filter(name => name !== 'broker' && !this.sites.some(site => site.name === name))
  }

  /** The databases that can be set back to a copy, by sink. @returns {Record<string, Database>} */
  get restorable () {
    return Object.fromEntries(this.#databases().filter(([, { restorable }]) => restorable))
  }

  async startGateways () {
    for (const site of this.sites) {
      await mkdir(site.ledgerFolder)
      await writeFile(site.flowFile, JSON.stringify(site.flow({ sources: true })))
      await writeFile(site.credentialsFile, JSON.stringify(site.credentials))
      site.gateway.start()
    }
  }

  /** The rest goes on. */
  async stopSources () {
    for (const site of this.sites) await site.stopSources()
  }

  /** Until when each sink was away, of those that were: of what was produced before, it may lack some. */
  get removedUntilMs () {
    return new Map(this.sites.flatMap(({ removedUntilMs }, i) => {
      return Array.from(removedUntilMs, ([id, ms]) => /** @type {[string, number]} */ ([nameIn(i, id), ms]))
    }))
  }

  /** What the databases hold, by sink; all must be running. @returns {Promise<Record<string, import('../check/check.js').Store>>} */
  async openStores () {
    /** @type {Record<string, import('../check/check.js').Store>} */
    const stores = {}
    for (const [name, database] of this.#databases()) stores[name] = await database.openStore()
    return stores
  }

  /**
   * What the gateways say that each database lacks for good: rows by sink and source. All sinks were there from the start: for one that was
   * away, or set back to a time when it had nothing yet, what was before it began is lost as well.
   * @param {Set<string>} begunAnew  these
   */
  async reportedLost (begunAnew) {
    /** @type {Record<string, Record<string, number>>} */
    const lost = {}
    for (const { name, sources } of await this.#balances()) {
      const bySource = lost[name] ??= {}
      for (const { source, lost: rows, beforeItBegan } of sources) {
        bySource[source] = (bySource[source] ?? 0) + rows + (begunAnew.has(name) ? beforeItBegan : 0)
      }
    }
    return lost
  }

  /** Rows that some database is still to get, as the gateways say. */
  async inFlight () {
    return (await this.#balances()).reduce((sum, { inFlight, parked }) => sum + inFlight + parked, 0)
  }

  /** Nothing may be killed or started meanwhile. */
  async close () {
    for (const { gateway } of this.sites) await gateway.close()
    const servers = [this.#broker, ...this.#databases().map(([, database]) => database)]
    const stopped = await Promise.allSettled(servers.map(server => server.stop()))
    for (const each of stopped) if (each.status === 'rejected') throw each.reason
  }

  /** What the gateways say of each sink. */
  async #balances () {
    const balances = []
    for (const [i, { gateway }] of this.sites.entries()) {
      /** @type {import('../../../gateway/stats/reader.js').Report} */
      const { ledger } = await gateway.get(BALANCE_PATH)
      balances.push(...ledger.map(balance => ({ ...balance, name: nameIn(i, balance.id) })))
    }
    return balances
  }

  /** @returns {[string, Database][]} */
  #databases () {
    return this.sites.flatMap(({ databases }, i) => {
      return Object.entries(databases).map(([type, database]) => /** @type {[string, Database]} */ ([nameIn(i, type), database]))
    })
  }
}

/** What a sink, its database and its server are called, of each gateway. @param {number} site @param {string} type */
function nameIn (site, type) {
  return site === 0 ? type : `${type}${site + 1}`
}
