import { isName } from '../../batch/names.js'
import { MAX_NAME, MAX_TAG } from '../bounds.js'
import { quoted } from '../gatherer.js'
import { columnsOf } from './columns.js'
import { Lessons } from '../codecs/json-lessons.js'
import { meaningOf } from './meaning.js'
import { SPECIAL } from './pattern.js'
import { Recent } from './recent.js'

/**
 * What a topic means: looked up by each message, and found out once.
 *
 * @typedef {import('./plan.js').Plan} Plan
 * @typedef {import('../../batch/tags.js').TagColumn} TagColumn
 *
 * @typedef {object} Place
 * @property {number} index  of the mapping; -1: none matches
 * @property {Plan} plan
 * @property {string|undefined} own  the source that the mapping gives, whatever the message says
 * @property {string} source  of messages that say none
 * @property {Record<string, string>} tags  of the topic
 * @property {Record<string, TagColumn>} oneRow  the same as columns of a batch of one row
 * @property {string|undefined} field  what a bare value is called, and before the dot in the names of those of an object
 * @property {string|null} fault  why no message on this topic can be stored
 * @property {Lessons} lessons  about the rows that come here
 * @property {import('../codecs/json-lessons.js').Meaning|null} meaning  of them
 */

/** Topics that are remembered, each by about a kilobyte at most. */
const MAX_TOPICS = 16_384
/** Longer ones are looked up each time. */
const MAX_REMEMBERED = 1024

/** @param {Plan[]} plans  the first that matches decides @param {Plan} otherwise @returns {(topic: string) => Place} */
export function placeFinder (plans, otherwise) {
  const find = (/** @type {string} */ topic) => placeOf(topic, plans, otherwise)
  const places = new Recent(MAX_TOPICS, find)
  return topic => topic.length > MAX_REMEMBERED ? find(topic) : places.get(topic)
}

/** @param {string} topic @param {Plan[]} plans @param {Plan} otherwise @returns {Place} */
function placeOf (topic, plans, otherwise) {
  const levels = topic.split('/')
  for (const [index, plan] of plans.entries()) {
    const named = plan.match(levels)
    if (named) return placeIn(plan, index, named, topic, plan.otherwise)
  }
  return placeIn(otherwise, -1, { topic }, topic, isSource(levels[0]) ? levels[0] : otherwise.otherwise)
}

/** @param {Plan} plan @param {number} index @param {Record<string, string>} named @param {string} topic @param {string} usual  source */
function placeIn (plan, index, named, topic, usual) {
  const { field } = named
  const tags = Object.fromEntries(Object.entries(named).filter(([name]) => !SPECIAL.includes(name)))
  const given = plan.sourceOf(named, topic) || undefined
  const source = given ?? usual
  const long = Object.keys(tags).find(name => tags[name].length > MAX_TAG)
  /** @type {Place} */
  const place = {
    index,
    plan,
    own: plan.isPerTopic ? undefined : given,
    source,
    tags,
    oneRow: columnsOf(tags, 1),
    field: field?.replaceAll('/', '.'),
    fault: long === undefined ? sourceFault(source) : `its tag ${quoted(long)}, of the topic, is over ${MAX_TAG} characters`,
    lessons: new Lessons(),
    meaning: null
  }
  place.meaning = meaningOf(place)
  return place
}

/** @param {string} source */
function sourceFault (source) {
  return isSource(source) ? null : `its source ${quoted(source)}, of the topic, is no name or over ${MAX_NAME} characters`
}

/** @param {string} text */
function isSource (text) {
  return text.length <= MAX_NAME && isName(text)
}
