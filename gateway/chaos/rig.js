import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chaosCredentials, chaosFlow } from './flow.js'
import { GatewayProcess } from './gateway-process.js'
import { PostgresqlStore } from './postgresql-store.js'
import { startMosquitto, startPostgresql } from './servers.js'
import { SqliteStore } from './sqlite-store.js'
import { Victim } from './victim.js'

/**
 * @typedef {object} RigOptions
 * @property {string} folder  an empty one
 * @property {number} rate  rows a second of the simulated machine
 * @property {number} seed
 * @property {(error: unknown) => void} onCrash  the gateway ended by itself
 */

/** All that a run needs, running: a gateway with its flow, Mosquitto, PostgreSQL; and a ledger of all that the gateway's spools accept. */
export class Rig {
  #options
  #mosquitto
  #postgresql

  /** @param {RigOptions} options @param {Awaited<ReturnType<typeof startMosquitto>>} mosquitto @param {Awaited<ReturnType<typeof startPostgresql>>} postgresql */
  constructor (options, mosquitto, postgresql) {
    const { folder, onCrash } = options
    this.#options = options
    this.#mosquitto = mosquitto
    this.#postgresql = postgresql
    this.ledgerFolder = join(folder, 'ledger')
    this.gateway = new GatewayProcess({
      flowFile: join(folder, 'flows.json'),
      userDir: join(folder, 'user'),
      ledger: this.ledgerFolder,
      logFile: join(folder, 'gateway.log'),
      onCrash
    })
    this.victims = { gateway: new Victim(this.gateway), mosquitto: new Victim(mosquitto), postgresql: new Victim(postgresql) }
  }

  /** @param {RigOptions} options */
  static async open (options) {
    const mosquitto = await startMosquitto(join(options.folder, 'mosquitto'))
    try {
      const rig = new Rig(options, mosquitto, await startPostgresql(join(options.folder, 'postgresql')))
      await mkdir(rig.ledgerFolder)
      return rig
    } catch (error) {
      await mosquitto.stop()
      throw error
    }
  }

  async startGateway () {
    const { folder } = this.#options
    await writeFile(join(folder, 'flows.json'), JSON.stringify(this.#flow({ sources: true })))
    await writeFile(join(folder, 'flows_cred.json'), JSON.stringify(chaosCredentials(this.#postgresql.server)))
    this.gateway.start()
  }

  /** The rest goes on: what they have produced is to arrive without help from a restart. */
  async stopSources () {
    await this.gateway.deploy(this.#flow({ sources: false }))
  }

  /** What the databases hold; PostgreSQL must be running. */
  async openStores () {
    return { sqlite: new SqliteStore(this.#sqliteFile), postgresql: await PostgresqlStore.open(this.#postgresql.server) }
  }

  /** Nothing may be killed or started meanwhile. */
  async close () {
    await this.gateway.close()
    await this.#mosquitto.stop()
    await this.#postgresql.stop()
  }

  /** @param {{sources: boolean}} options  whether they run */
  #flow ({ sources }) {
    const { rate, seed } = this.#options
    return chaosFlow({ brokerUrl: this.#mosquitto.url, sqliteFile: this.#sqliteFile, postgresql: this.#postgresql.server, rate, seed, sources })
  }

  get #sqliteFile () { return join(this.#options.folder, 'chaos.sqlite') }
}
