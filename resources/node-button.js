import { refusedText } from './refused.js'

/**
 * The button of a node in the flow: the gateway decides what it does, and tells it.
 * @param {string} type  of the node
 * @returns {ThisType<Record<string, any>>}
 */
export function buttonOf (type) {
  const text = (/** @type {string} */ key, /** @type {object} */ values = {}) => RED.nodes.getType(type)._(`${type}.form.${key}`, values)
  return {
    enabled () { return !this.changed },
    onclick () {
      if (this.changed) return RED.notify(text('pressChanged'), 'warning')
      const name = this.name || RED.nodes.getType(type)._(`${type}.label`)
      $.ajax({ url: `sluice-bench/${this.id}/press`, method: 'POST', contentType: 'application/json', data: '{}' }).then(
        ({ state }) => RED.notify(text({ started: 'pressStarted', stopping: 'pressStopping' }[String(state)] ?? '', { name }), 'success'),
        failed => RED.notify(failed.status === 404 ? text('pressChanged') : refusedText(failed, 'press', text), 'error')
      )
    }
  }
}
