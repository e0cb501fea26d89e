import { duration, measure } from '../../stats/format.js'
import { element, say } from './dom.js'
import { counted, text } from './text.js'
import { lasting } from './times.js'

/**
 * @typedef {import('./plant.js').Plant} Plant
 * @typedef {[label: string, value: string]} Fact
 */

/** A card of names and values. */
export class Facts {
  #list = element('dl', { class: 'facts' })
  node

  /** @param {string} title */
  constructor (title) { this.node = element('section', { class: 'card' }, element('h2', {}, title), this.#list) }

  /** @param {Fact[]} facts */
  show (facts) {
    while (this.#list.children.length > facts.length) this.#list.lastElementChild?.remove()
    for (const [i, [name, value]] of facts.entries()) {
      const line = this.#list.children[i] ?? this.#list.appendChild(element('div', {}, element('dt'), element('dd')))
      say(line.children[0], name)
      say(line.children[1], value)
    }
  }
}

/** The gateway's process and its machine. @param {Plant} plant @returns {Fact[]} */
export function machineFacts ({ tick }) {
  if (!tick) return []
  const { process: { cpuPercent, rssBytes, eventLoopDelayMs, uptimeSeconds }, host } = tick
  const { temperatureCelsius, disk, written, cards = [] } = host ?? {}
  /** @type {(Fact|false|undefined)[]} */
  const facts = [
    [text('machine.uptime'), lasting(uptimeSeconds * 1000)],
    [text('machine.cpu'), `${cpuPercent.toFixed(1)} %`],
    [text('machine.memory'), measure(rssBytes, 'B')],
    [text('machine.loop'), duration(eventLoopDelayMs)],
    temperatureCelsius !== undefined && [text('machine.temperature'), `${temperatureCelsius.toFixed(0)} °C`],
    disk && [text('machine.disk'), text('machine.of', { part: measure(disk.freeBytes, 'B'), all: measure(disk.totalBytes, 'B') })],
    disk?.totalInodes ? [text('machine.files'), `${((disk.freeInodes ?? 0) / disk.totalInodes * 100).toFixed(0)} %`] : false,
    written && [text('machine.written', { disk: written.disk }), text('machine.aDay', { bytes: measure(written.bytesPerDay, 'B') })],
    ...cards.map(({ name, wornPercent }) => /** @type {Fact} */ ([text('machine.worn', { name }), `${wornPercent} %`]))
  ]
  return facts.flatMap(fact => fact ? [fact] : [])
}

/**
 * "1,000 produced = 990 stored + 0 dead letters + 0 lost + 10 in flight"
 * @param {import('../../stats/balance.js').Balance} balance
 */
export function balanceLine ({ produced, beforeItBegan, stored, deadLetters, settled, parked, lost, inFlight }) {
  const term = (/** @type {string} */ name, /** @type {number} */ rows, isBad = false) => {
    return element('span', { class: isBad ? 'bad' : '' }, element('b', {}, counted(rows)), ` ${text(`balance.${name}`)}`)
  }
  const terms = [
    term('stored', stored),
    term('deadLetters', deadLetters, deadLetters > 0),
    ...beforeItBegan > 0 ? [term('beforeItBegan', beforeItBegan)] : [],
    ...settled > 0 ? [term('settled', settled)] : [],
    ...parked > 0 ? [term('parked', parked, true)] : [],
    term('lost', lost, lost > 0),
    term('inFlight', inFlight)
  ]
  return element('p', { class: 'balance' }, term('produced', produced), ...terms.flatMap((each, i) => [i === 0 ? ' = ' : ' + ', each]))
}

/** The equation that the gateway stands for, once for every sink. */
export class Balances {
  #list = element('div')
  #drawn = ''
  node = element('section', { class: 'card', id: 'balances' }, element('h2', {}, text('balance.title')), this.#list)

  /** @param {Plant} plant */
  show ({ sinks }) {
    const all = sinks.flatMap(({ name, balance, isConnected }) => balance ? [{ name, balance, isConnected }] : [])
    this.node.hidden = all.length === 0
    const now = JSON.stringify(all)
    if (now === this.#drawn) return
    this.#drawn = now
    this.#list.replaceChildren(...all.flatMap(({ name, balance, isConnected }) => {
      const line = balanceLine(balance)
      line.prepend(element('span', { class: 'dim' }, `${name}: `))
      if (!isConnected) line.append(element('span', { class: 'dim' }, ` ${text('balance.old')}`))
      return [line]
    }))
  }
}
