import { asciiName } from '../names.js'

/**
 * Kafka as the wide layout sees it: records have what columns a batch has.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  product: 'Kafka',
  maxNameBytes: 1100,
  maxColumns: Infinity,
  fold: name => name,
  timeColumns: [{ name: 'time', type: 'time', origin: 'time' }],
  ownNames: ['time', 'source'],
  columnTypes: /** @type {any} */ ({}),
  accepts: /** @type {any} */ ({})
}

const MAX_TOPIC_LETTERS = 249

/**
 * The topic that has a name, as Kafka can have it: of ASCII letters, digits, `_`, `-` and `.`.
 * @param {string} name
 */
export function topicName (name) {
  return asciiName(name, MAX_TOPIC_LETTERS, /^\.+$/.test(name) ? /\./gu : /_(?=x)|[^\w.-]/gu)
}
