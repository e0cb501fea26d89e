import { SluiceError } from '../../gateway/base/errors.js'

/**
 * Sends messages and learns when they have arrived: when a Sluice node behind, a stage out or a sink, has completed them as Node-RED
 * nodes do, which those do once the spool has accepted or the database has stored what is in them.
 */
export class Handover {
  #node
  #generateId
  #removeHook
  /** @type {Map<string, {resolve: () => void, reject: (error: Error) => void}>} by message id, which survives cloning */
  #waiting = new Map()

  /** @param {import('../node.js').RED} RED @param {import('../node.js').Node} node */
  constructor (RED, node) {
    const label = `sluice-handover-${node.id.replaceAll('.', '-')}`
    this.#node = node
    this.#generateId = RED.util.generateId
    this.#removeHook = () => RED.hooks.remove(`*.${label}`)
    RED.hooks.add(`onComplete.${label}`, (/** @type {any} */ event) => this.#completed(event))
  }

  /**
   * Resolves when the message has arrived; rejects with the error of the node it failed in, or when closed before. It waits as long as it
   * takes:
   * a spool may be full.
   * @param {number} output
   * @param {object} message
   * @returns {Promise<void>}
   */
  send (output, message) {
    return new Promise((resolve, reject) => {
      const id = this.#generateId()
      this.#waiting.set(id, { resolve, reject })
      const outputs = []
      outputs[output] = { ...message, _msgid: id }
      this.#node.send(outputs)
    })
  }

  close () {
    this.#removeHook()
    for (const { reject } of this.#waiting.values()) {
      reject(new SluiceError('SLUICE_HANDOVER_CLOSED', 'The flow was deployed or stopped before what was sent had arrived.'))
    }
    this.#waiting.clear()
  }

  /** @param {{msg: {_msgid: string}, node: {node: {type: string}}, error?: unknown}} event */
  #completed ({ msg, node: { node }, error }) {
    const waiting = this.#waiting.get(msg?._msgid)
    if (!waiting || !node.type.startsWith('sluice-')) return
    this.#waiting.delete(msg._msgid)
    if (error) waiting.reject(error instanceof Error ? error : new Error(String(error)))
    else waiting.resolve()
  }
}
