import { copyFile, open, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { chaosCredentials, chaosFlow, noEdits } from './flow.js'
import { GatewayProcess } from './gateway-process.js'

/** @typedef {import('../plan.js').Event} Event */

/** One gateway with its flow, its databases and the ledger of its spool. */
export class Site {
  /** @type {Record<string, import('../databases/index.js').Database>} by type */
  databases = {}
  /** Until when a sink was last away: of what was produced before, it may lack some. @type {Map<string, number>} */
  removedUntilMs = new Map()
  #edits = noEdits()
  #options

  /**
   * @param {object} options
   * @param {string} options.name
   * @param {string} options.folder
   * @param {import('./brokers.js').Broker} options.broker
   * @param {number} options.rate
   * @param {number} options.seed
   * @param {(error: unknown) => void} options.onCrash
   */
  constructor (options) {
    const { name, folder, onCrash } = options
    this.#options = options
    this.name = name
    this.folder = folder
    this.ledgerFolder = join(folder, 'ledger')
    this.flowFile = join(folder, 'flows.json')
    this.credentialsFile = join(folder, 'flows_cred.json')
    this.userDir = join(folder, 'user')
    this.gateway = new GatewayProcess({
      flowFile: this.flowFile,
      userDir: this.userDir,
      ledger: this.ledgerFolder,
      logFile: join(folder, 'gateway.log'),
      onCrash
    })
  }

  get credentials () { return chaosCredentials(this.databases) }

  /** @param {{sources: boolean}} options  whether they run */
  flow ({ sources }) {
    const { broker, rate, seed } = this.#options
    return chaosFlow({ broker, databases: this.databases, rate, seed, sources, edits: this.#edits })
  }

  /** Changes a sink and deploys; one that is disabled or deleted comes back with the next such change. @param {Event} event */
  async deploy ({ change, deployment = 'nodes', pick }) {
    const { renamed, disabled, removed } = this.#edits
    const names = Object.keys(this.databases)
    const name = names[Math.floor(pick * names.length)]
    this.#edits.moved++
    if (change === 'source') this.#edits.sources++
    if (change === 'rename' && !renamed.delete(name)) renamed.add(name)
    const gone = change === 'disable' ? disabled : change === 'remove' ? removed : new Set()
    const back = [...gone]
    gone.clear()
    if (back.length === 0 && change === 'disable') disabled.add(name)
    if (back.length === 0 && change === 'remove') removed.add(name)
    await this.#deploy({ sources: true }, deployment, change === 'remove' ? back : [])
  }

  /** All sinks come back; what was produced is to arrive without help from a restart. */
  async stopSources () {
    const { disabled, removed } = this.#edits
    const back = [...removed]
    disabled.clear()
    removed.clear()
    await this.#deploy({ sources: false }, 'nodes', back)
  }

  /**
   * Flips a bit of the spool, while the gateway is down. The ledger has links to the files, so a copy is damaged.
   * @param {number} pick
   */
  async damage (pick) {
    const spool = join(this.userDir, 'sluice', 'spool')
    const files = (await readdir(spool, { recursive: true }).catch(() => [])).filter(name => name.endsWith('.segment')).sort()
    if (files.length === 0) return
    const path = join(spool, files[Math.floor(pick * files.length)])
    await copyFile(path, `${path}.copy`)
    const file = await open(`${path}.copy`, 'r+')
    try {
      const { size } = await file.stat()
      const at = Math.floor((pick * 7919 % 1) * size)
      const byte = Buffer.alloc(1)
      await file.read(byte, 0, 1, at)
      byte[0] ^= 1 << Math.floor(pick * 104_729 % 8)
      await file.write(byte, 0, 1, at)
    } finally {
      await file.close()
    }
    await rename(`${path}.copy`, path)
  }

  /** @param {{sources: boolean}} options @param {'full'|'flows'|'nodes'} deployment @param {string[]} back  sinks that are there again */
  async #deploy (options, deployment, back) {
    await this.gateway.deploy(this.flow(options), deployment)
    for (const name of back) this.removedUntilMs.set(name, Date.now())
  }
}
