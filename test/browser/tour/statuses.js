import { until } from './until.js'

/** So much more is no ripple: it takes some seconds of the default flow. */
const GROWTH_BYTES = 500_000

const BYTES = new Map([['B', 1], ['kB', 1e3], ['MB', 1e6]])

/** What the editor shows below the nodes. */
export class Statuses {
  #page

  /** @param {import('playwright-core').Page} page */
  constructor (page) {
    this.#page = page
  }

  /** Waits until a node shows it. @param {string} id @param {RegExp} pattern */
  show (id, pattern) {
    return until(() => this.#textOf(id), text => pattern.test(text))
  }

  /** Waits until the spool has more and more that is not stored, as its *stage out* says. @param {string} stageOut */
  async spoolGrows (stageOut) {
    const bytes = async () => {
      const [, number, unit] = /([\d.]+) (\w*B) to store/.exec(await this.#textOf(stageOut)) ?? []
      return Number(number) * (BYTES.get(unit) ?? NaN)
    }
    const before = await until(bytes, found => found >= 0)
    await until(bytes, found => found > before + GROWTH_BYTES)
  }

  /** @param {string} id */
  async #textOf (id) {
    return await this.#page.textContent(`[id="${id}"] .red-ui-flow-node-status-label`) ?? ''
  }
}
