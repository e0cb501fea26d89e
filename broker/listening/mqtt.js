import { randomUUID } from 'node:crypto'
import { SluiceError } from '../../gateway/base/errors.js'
import { open, within } from '../preflight/probing.js'
import { isForTopic, ROOT } from '../topics.js'
import { Listening } from './listening.js'

/** @typedef {import('mqtt').MqttClient} MqttClient */

const OWN = `${ROOT.split('/')[0]}/`

/**
 * Listens to a broker of MQTT. The broker notices a client with a session of its own that ends with it; a shared subscription is listened
 * to as a plain one, which takes nothing from those who share. Besides what the filters are for, a few neighbours are kept: topics that
 * begin as a filter does.
 * @param {import('../connection/connection.js').BrokerOptions} options
 * @param {string[]} wanted  filters; none: all that is no message of the broker or of ours
 * @param {{durationMs?: number}} [more]
 */
export function listenToMqtt (options, wanted, more) {
  const filters = wanted.length > 0 ? wanted.map(withoutGroup) : ['#']
  const around = neighbourhoods(filters)
  return new Listening(async listening => {
    const connection = await open(options, { clientId: `sluice-try-${randomUUID()}` })
    const { client } = connection
    client.once('close', () => listening.fail(connection.problem))
    client.on('message', (topic, payload, { properties }) => {
      if (topic.startsWith(OWN)) return listening.count(payload.length)
      const { wantsOthers } = listening
      listening.take({ topic, payload, contentType: properties?.contentType }, !filters.some(filter => isForTopic(filter, topic)))
      if (wantsOthers && !listening.wantsOthers) client.unsubscribe(around)
    })
    return { begun: within(subscribe(client, filters, around)), close: () => connection.close() }
  }, more)
}

/** @param {MqttClient} client @param {string[]} filters @param {string[]} around */
async function subscribe (client, filters, around) {
  const accepted = await Promise.all([...filters, ...around].map(async filter => {
    const granted = await client.subscribeAsync(filter, { qos: 0 }).catch(() => [])
    return granted.some(({ qos }) => qos < 128)
  }))
  if (accepted.includes(true) || !client.connected) return
  throw new SluiceError('SLUICE_LISTEN_REFUSED', `The broker refuses the subscription to ${filters.join(', ')}.`, {
    fix: 'Allow this user to read there, or listen to other topics.'
  })
}

/** @param {string[]} filters */
function neighbourhoods (filters) {
  const wide = filters.map(filter => {
    const levels = filter.split('/')
    const wildcard = levels.findIndex(level => level === '+' || level === '#')
    return [...levels.slice(0, wildcard === -1 ? -1 : wildcard), '#'].join('/')
  })
  return [...new Set(wide)].filter(filter => !filters.includes(filter))
}

/** @param {string} filter */
function withoutGroup (filter) {
  return filter.replace(/^\$share\/[^/]*\//, '')
}
