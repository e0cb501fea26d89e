import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseTypes } from '../databases/index.js'
import { chaosCredentials, chaosFlow } from './flow.js'
import { GatewayProcess } from './gateway-process.js'
import { startShippedMosquitto } from './mosquitto.js'
import { Victim } from './victim.js'

/**
 * @typedef {import('../databases/index.js').Database} Database
 *
 * @typedef {object} RigOptions
 * @property {string} folder  an empty one
 * @property {string[]} sinks  types of databases
 * @property {number} rate  rows a second of the simulated machine
 * @property {number} seed
 * @property {(error: unknown) => void} onCrash  the gateway ended by itself
 */

/**
 * All that a run needs, running: a gateway with its flow, Mosquitto, the databases; and a ledger of all that the gateway's spools accept.
 */
export class Rig {
  #options
  #mosquitto
  #databases

  /**
   * @param {RigOptions} options
   * @param {Awaited<ReturnType<typeof startShippedMosquitto>>} mosquitto
   * @param {Record<string, Database>} databases
   */
  constructor (options, mosquitto, databases) {
    const { folder, onCrash } = options
    this.#options = options
    this.#mosquitto = mosquitto
    this.#databases = databases
    this.ledgerFolder = join(folder, 'ledger')
    this.gateway = new GatewayProcess({
      flowFile: join(folder, 'flows.json'),
      userDir: join(folder, 'user'),
      ledger: this.ledgerFolder,
      logFile: join(folder, 'gateway.log'),
      onCrash
    })
    /** @type {Record<string, Victim>} */
    this.victims = { gateway: new Victim('gateway', this.gateway), mosquitto: new Victim('Mosquitto', mosquitto) }
  }

  /** @param {RigOptions} options */
  static async open (options) {
    const { folder, sinks } = options
    await chmod(folder, 0o711) // a server may run as another user, who must get through
    const mosquitto = await startShippedMosquitto(join(folder, 'mosquitto'))
    /** @type {Record<string, Database>} */
    const databases = {}
    const rig = new Rig(options, mosquitto, databases)
    try {
      await mkdir(rig.ledgerFolder)
      for (const type of sinks) {
        const { title, start } = await databaseTypes[type]()
        await mkdir(join(folder, type))
        databases[type] = await start(join(folder, type))
        const { process } = databases[type]
        if (process) rig.victims[type] = new Victim(title, process)
      }
      return rig
    } catch (error) {
      await rig.close()
      throw error
    }
  }

  async startGateway () {
    const { folder } = this.#options
    await writeFile(join(folder, 'flows.json'), JSON.stringify(this.#flow({ sources: true })))
    await writeFile(join(folder, 'flows_cred.json'), JSON.stringify(chaosCredentials(this.#databases)))
    this.gateway.start()
  }

  /** The rest goes on: what they have produced is to arrive without help from a restart. */
  async stopSources () {
    await this.gateway.deploy(this.#flow({ sources: false }))
  }

  /** What the databases hold, by type; all must be running. @returns {Promise<Record<string, import('../check/check.js').Store>>} */
  async openStores () {
    /** @type {Record<string, import('../check/check.js').Store>} */
    const stores = {}
    for (const [type, database] of Object.entries(this.#databases)) stores[type] = await database.openStore()
    return stores
  }

  /** Nothing may be killed or started meanwhile. */
  async close () {
    await this.gateway.close()
    const stopped = await Promise.allSettled([this.#mosquitto, ...Object.values(this.#databases)].map(each => each.stop()))
    for (const each of stopped) if (each.status === 'rejected') throw each.reason
  }

  /** @param {{sources: boolean}} options  whether they run */
  #flow ({ sources }) {
    const { rate, seed } = this.#options
    return chaosFlow({ brokerUrl: this.#mosquitto.url, databases: this.#databases, rate, seed, sources })
  }
}
