import { EventEmitter } from 'node:events'

/** What passes the events of a Node-RED on. @type {WeakMap<object, EventEmitter>} */
const relays = new WeakMap()

/**
 * Listens to what Node-RED does with its flows. Its emitter, which warns of more than ten listeners, gets one for all nodes.
 * @param {import('./node.js').RED} RED
 * @param {'flows:stopping'|'flows:started'} name
 * @param {(event: any) => void} listener
 * @returns {() => void} stops listening
 */
export function onFlows (RED, name, listener) {
  const relay = relays.get(RED.events) ?? relayOf(RED.events)
  relay.on(name, listener)
  return () => { relay.off(name, listener) }
}

/** @param {EventEmitter} events */
function relayOf (events) {
  const relay = new EventEmitter().setMaxListeners(0)
  relays.set(events, relay)
  for (const name of ['flows:stopping', 'flows:started']) events.on(name, event => relay.emit(name, event))
  return relay
}
