import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { startPython } from '../servers/python.js'

/** cantools, the DBC library for Python, in a process of its own: `servers/python/cantools_codec.py`. */
export class Cantools {
  #child = startPython('cantools_codec.py')
  #ended = once(this.#child, 'exit')
  #answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()

  /** @param {object} request @returns {Promise<any>} */
  async ask (request) {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`)
    const { value, done } = await this.#answers.next()
    if (done) throw new Error(`cantools has ended: ${(await this.#child.stderr.toArray()).join('')}`)
    return JSON.parse(value)
  }

  async close () {
    this.#child.stdin.end()
    await this.#ended
  }
}
