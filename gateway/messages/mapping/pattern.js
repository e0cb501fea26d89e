import { MAX_NAME } from '../bounds.js'
import { fault, shown } from './fault.js'

/**
 * A pattern of topics: levels of text, `+`, `#`, `{name}` (one whole level), `{_}` (one that has no name) and, as the last, `{name…}` (one
 * level or more, also written `{name...}`).
 *
 * @typedef {{text: string|null, name: string|null, isRest: boolean}} Level  `text`: what it must be; `name`: what it is called
 *
 * @typedef {object} Pattern
 * @property {Level[]} levels
 * @property {boolean} isOpen  whatever follows matches, too, nothing included: `#`
 * @property {string} filter  what MQTT calls it, to subscribe to
 * @property {string[]} names
 */

/** Names that are no tags. */
export const SPECIAL = ['source', 'field']

const SHARED = /^\$share\/[^/+#{}]+\/(?=.)/s
const PLACEHOLDER = /^\{([^{}+#/]+?)(…|\.\.\.)?\}$/
const EXAMPLE = 'Write it like plant/{line}/{device}/telemetry.'
const MAX_TOPIC = 65_535

/** @param {string} text @returns {Pattern} @throws SLUICE_MAPPING */
export function parsePattern (text) {
  if (text === '' || text.length > MAX_TOPIC || text.includes('\0')) throw fault(`the topic ${shown(text)} is none`, EXAMPLE)
  const [share = ''] = SHARED.exec(text) ?? []
  if (!share && /^\$share(?:\/|$)/.test(text)) {
    throw fault(`the topic ${shown(text)} shares nothing`, 'Write $share/, a group, and the topic: $share/gateways/plant/{line}/#.')
  }
  const parts = text.slice(share.length).split('/')
  const isOpen = parts.at(-1) === '#'
  const levels = (isOpen ? parts.slice(0, -1) : parts).map(part => levelOf(part, text))
  const early = levels.slice(0, isOpen ? undefined : -1).find(({ isRest }) => isRest)
  if (early) throw fault(`the topic ${shown(text)} has more behind {${early.name}…}`, 'What takes all the levels that follow is the last.')
  const names = levels.flatMap(({ name }) => name ?? [])
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice) throw fault(`the topic ${shown(text)} has {${twice}} twice`, 'Give each level a name of its own, or write {_}.')
  const filters = levels.map(level => level.text ?? (level.isRest ? '#' : '+'))
  return { levels, isOpen, filter: share + [...filters, ...isOpen ? ['#'] : []].join('/'), names }
}

/** @param {string} part @param {string} text  the whole @returns {Level} */
function levelOf (part, text) {
  if (part === '+' || part === '{_}') return { text: null, name: null, isRest: false }
  const placeholder = PLACEHOLDER.exec(part)
  if (placeholder) {
    const [, name, rest] = placeholder
    if (name === 'time') throw fault(`the topic ${shown(text)} calls a level {time}`, 'That is the name of the time: choose another.')
    if (name.length > MAX_NAME) throw fault(`the topic ${shown(text)} has a name of over ${MAX_NAME} characters`, 'Choose a shorter one.')
    return { text: null, name, isRest: Boolean(rest) }
  }
  if (/[{}]/.test(part)) throw fault(`the topic ${shown(text)} has the level ${shown(part)}`, `A placeholder is a whole level. ${EXAMPLE}`)
  if (/[+#]/.test(part)) throw fault(`the topic ${shown(text)} has the level ${shown(part)}`, '+ is a whole level, and # the last one.')
  return { text: part, name: null, isRest: false }
}

/**
 * The values of its names, in the order of `names`; null where the topic does not match. A wildcard at the beginning includes none of the
 * broker's own topics.
 * @param {Pattern} pattern @param {string[]} topic  its levels
 * @returns {string[]|null}
 */
export function matchTopic ({ levels, isOpen }, topic) {
  const rest = levels.at(-1)?.isRest
  if (topic.length < levels.length || (topic.length > levels.length && !isOpen && !rest)) return null
  if (topic[0].startsWith('$') && levels[0]?.text == null) return null
  /** @type {string[]} */
  const values = []
  for (let i = 0; i < levels.length; i++) {
    const { text, name, isRest } = levels[i]
    if (text !== null && text !== topic[i]) return null
    if (name !== null) values.push(isRest ? topic.slice(i).join('/') : topic[i])
  }
  return values
}
