import { inEnglish } from '../stats/english.js'
import { phrase } from '../stats/phrases.js'
import { inOneLine, short } from './words.js'

/**
 * @typedef {import('../stats/alarm.js').Alarm} Alarm
 * @typedef {import('../stats/alarm.js').Change} Change
 * @typedef {import('../stats/alarm.js').Listener} Listener
 * @typedef {import('../stats/alarm.js').Subject} Subject
 * @typedef {import('./kind.js').Kind} Kind
 * @typedef {import('./kind.js').Finding} Finding
 * @typedef {import('../stats/phrases.js').Phrase} Phrase
 *
 * @typedef {object} Entry  of what is wrong, raised or not yet
 * @property {Finding|null} finding  the last; null of an alarm of before the restart
 * @property {number} sinceMs  monotonic
 * @property {number} seenMs  monotonic
 * @property {number} worstMs  when it was seen last as a problem
 * @property {number} more  by how much its count has grown since it was raised
 * @property {number} beganMs  since 1970
 * @property {Alarm|null} alarm  once it is raised by itself
 * @property {boolean} isMember  it is one of several that are raised together
 * @property {boolean} [isRestored]  its alarm was raised before the restart
 *
 * @typedef {{alarms: Alarm[], more: Record<string, number>, counts: Record<string, number>}} Kept  from before a restart; `more`: of an
 *   alarm that counts, by its id
 */

/** More of a kind, when they come at once or these are there already, are one alarm. */
const MAX_OF_KIND = 10
const MAX_RECENT = 200
/** Names in the reason of such an alarm. */
const MAX_NAMES = 20
/** Counts that are remembered: those that were read last. */
const MAX_COUNTS = 1000
/** After a restart, what was wrong has so long to be seen again, unless it is known before that it is over. */
const RESTART_MS = 90_000

/**
 * What is wrong, from its beginning to its end: it is raised once it has held for some seconds, acknowledged by somebody, and cleared once
 * it has been over for some seconds.
 */
export class Alarms {
  /** Problems first, then the newest. @type {Alarm[]} */
  active = []
  /** The last that were cleared, newest first. @type {Alarm[]} */
  recent = []
  /** How often each kind has been raised. @type {Map<string, number>} */
  raised = new Map()
  #kinds
  #take
  #now
  #wallNow
  #startedMs
  /** By kind, then by id. @type {Map<string, Map<string, Entry>>} */
  #entries
  /** Those that stand for many, by kind. @type {Map<string, Alarm>} */
  #several = new Map()
  /** @type {Map<string, number>} */
  #counts
  /** Whether nothing is known of counts that may be old: they begin as they are. */
  #isFirst
  /** @type {Set<Listener>} */
  #listeners = new Set()

  /**
   * @param {object} setup
   * @param {Record<string, Kind>} setup.kinds
   * @param {() => import('./snapshot.js').Snapshot} setup.take
   * @param {Kept|null} [setup.kept]
   * @param {() => number} [setup.now]  monotonic milliseconds
   * @param {() => number} [setup.wallNow]  since 1970
   */
  constructor ({ kinds, take, kept = null, now = () => performance.now(), wallNow = Date.now }) {
    this.#kinds = new Map(Object.entries(kinds))
    this.#take = take
    this.#now = now
    this.#wallNow = wallNow
    this.#startedMs = now()
    this.#entries = new Map(Object.keys(kinds).map(kind => [kind, new Map()]))
    this.#counts = new Map(Object.entries(kept?.counts ?? {}))
    this.#isFirst = kept === null
    for (const alarm of kept?.alarms ?? []) this.#restore(alarm, kept?.more[alarm.id] ?? 0)
    this.#sort()
  }

  /** What a restart must not forget. Counts that begin at 0 with a process are not among it. @returns {Kept} */
  get kept () {
    const lives = [...this.#kinds].flatMap(([kind, { event }]) => event === 'process' ? [] : [`${kind}:`])
    const counts = [...this.#counts].filter(([id, count]) => count > 0 && lives.some(start => id.startsWith(start)))
    const entries = [...this.#entries.values()].flatMap(its => [...its])
    const more = entries.filter(([, entry]) => entry.alarm && entry.more > 0).map(([id, entry]) => [id, entry.more])
    return { alarms: this.active, more: Object.fromEntries(more), counts: Object.fromEntries(counts) }
  }

  /** @param {Listener} listener @returns {() => void} ends it */
  onChange (listener) {
    const own = (/** @type {Alarm} */ alarm, /** @type {Change} */ change) => listener(alarm, change)
    this.#listeners.add(own)
    return () => { this.#listeners.delete(own) }
  }

  /** @param {string} id @returns {Alarm|null} null where no such alarm is raised */
  acknowledge (id) {
    const alarm = this.active.find(each => each.id === id)
    if (!alarm) return null
    if (alarm.acknowledgedMs === null) {
      alarm.acknowledgedMs = this.#wallNow()
      this.#tell(alarm, 'acknowledged')
    }
    return alarm
  }

  /** Looks at everything once. */
  judge () {
    const snapshot = this.#take()
    for (const [kind, its] of this.#kinds) this.#judgeKind(kind, its, snapshot)
    this.#isFirst = false
    this.#sort()
  }

  /** @param {string} kind @param {Kind} its @param {import('./snapshot.js').Snapshot} snapshot */
  #judgeKind (kind, its, snapshot) {
    const nowMs = this.#now()
    const entries = /** @type {Map<string, Entry>} */ (this.#entries.get(kind))
    const lastingMs = (/** @type {Subject} */ subject) => {
      const entry = entries.get(idOf(kind, subject))
      return entry?.isRestored ? Math.max(0, this.#wallNow() - entry.beganMs) : null
    }
    const due = []
    for (const finding of its.read(snapshot, lastingMs)) {
      const id = idOf(kind, finding.subject)
      const more = finding.count === undefined ? 0 : this.#growth(id, finding.count, its.event)
      if (its.event && more === 0) continue
      const entry = this.#see(entries, id, { finding, more, nowMs })
      if (entry.alarm) this.#update(its, entry, more > 0)
      else if (!entry.isMember && nowMs - entry.sinceMs >= its.raiseAfterMs) due.push(entry)
    }
    this.#raise(kind, its, entries, due)
    for (const [id, entry] of entries) {
      const overMs = nowMs - entry.seenMs
      if (overMs === 0 || overMs < patienceMs(its, entry, snapshot)) continue
      entries.delete(id)
      if (entry.alarm) this.#clear(entry.alarm)
    }
    this.#judgeSeveral(kind, its, entries)
  }

  /**
   * @param {Map<string, Entry>} entries
   * @param {string} id
   * @param {{finding: Finding, more: number, nowMs: number}} seen  `nowMs`: of the look, for what is due at once is due in the same
   */
  #see (entries, id, { finding, more, nowMs }) {
    let entry = entries.get(id)
    if (!entry) {
      const beganMs = this.#wallNow() - (finding.lastsMs ?? 0)
      entries.set(id, entry = { ...nothing(nowMs), beganMs })
    }
    entry.finding = finding
    entry.seenMs = nowMs
    if (finding.level === 'problem') entry.worstMs = nowMs
    entry.more += more
    return entry
  }

  /**
   * By how much a count has grown since it was read last.
   * @param {string} id
   * @param {number} count
   * @param {Kind['event']} event
   */
  #growth (id, count, event) {
    const last = this.#counts.get(id) ?? (event === 'life' && this.#isFirst ? count : 0)
    this.#counts.delete(id) // so that it is among those that were read last
    this.#counts.set(id, event === 'life' ? Math.max(last, count) : count)
    if (this.#counts.size > MAX_COUNTS) this.#counts.delete(/** @type {string} */ (this.#counts.keys().next().value))
    if (count >= last) return count - last
    return event === 'process' ? count : 0
  }

  /** @param {string} kind @param {Kind} its @param {Map<string, Entry>} entries @param {Entry[]} due */
  #raise (kind, its, entries, due) {
    if (due.length === 0) return
    const alone = [...entries.values()].filter(({ alarm }) => alarm !== null).length
    for (const entry of due) {
      if (this.#several.has(kind) || alone + due.length > MAX_OF_KIND) {
        entry.isMember = true
        continue
      }
      const { subject, level } = /** @type {Finding} */ (entry.finding)
      const alarm = newAlarm({ id: idOf(kind, subject), kind, level, subject, raisedMs: entry.beganMs })
      entry.alarm = alarm
      this.#word(entry)
      this.#start(alarm)
    }
  }

  /**
   * What is said of it now. One that got worse, or came again after it was acknowledged, is raised again.
   * @param {Kind} its
   * @param {Entry} entry
   * @param {boolean} isMore
   */
  #update (its, entry, isMore) {
    const alarm = /** @type {Alarm} */ (entry.alarm)
    const isWorse = this.#grade(alarm, its, [entry])
    this.#word(entry)
    if (isWorse || isMore && alarm.acknowledgedMs !== null) this.#startAgain(alarm)
  }

  /**
   * A problem stays one for as long as an alarm takes to be cleared.
   * @param {Alarm} alarm @param {Kind} its @param {Entry[]} entries
   * @returns {boolean} whether it got worse
   */
  #grade (alarm, its, entries) {
    const isProblem = entries.some(({ seenMs, worstMs }) => seenMs - worstMs < Math.max(its.clearAfterMs, 1))
    const isWorse = isProblem && alarm.level === 'warning'
    alarm.level = isProblem ? 'problem' : 'warning'
    return isWorse
  }

  /** @param {Entry} entry */
  #word (entry) {
    const { reason, fix, subject } = /** @type {Finding} */ (entry.finding)
    const alarm = /** @type {Alarm} */ (entry.alarm)
    alarm.subject = plain(subject)
    delete alarm.isFromBefore
    word(alarm, { what: whatOf(entry), fix, ...reason && { reason } })
  }

  /** @param {string} kind @param {Kind} its @param {Map<string, Entry>} entries */
  #judgeSeveral (kind, its, entries) {
    const members = [...entries.values()].filter(({ isMember }) => isMember)
    const alarm = this.#several.get(kind)
    if (members.length === 0) {
      if (!alarm || this.#now() - this.#startedMs < RESTART_MS) return
      this.#several.delete(kind)
      return this.#clear(alarm)
    }
    const findings = members.map(({ finding }) => /** @type {Finding} */ (finding))
    const [{ subject: { type }, fix }] = findings
    const names = findings.slice(0, MAX_NAMES).map(({ subject: { name } }) => short(name))
    const said = {
      what: members.length === 1 ? whatOf(members[0]) : its.several(members.length),
      reason: members.length > MAX_NAMES ? phrase('and-more', { names, count: members.length - MAX_NAMES }) : names.join(', ')
    }
    if (alarm) {
      delete alarm.isFromBefore
      word(alarm, said)
      if (this.#grade(alarm, its, members)) this.#startAgain(alarm)
      return
    }
    const level = findings.some(finding => finding.level === 'problem') ? 'problem' : 'warning'
    const subject = { type, name: SEVERAL }
    const raisedMs = Math.min(...members.map(({ beganMs }) => beganMs))
    const raised = newAlarm({ id: idOf(kind, subject), kind, level, subject, raisedMs })
    word(raised, { ...said, fix })
    this.#several.set(kind, raised)
    this.#start(raised)
  }

  /** @param {Alarm} alarm */
  #start (alarm) {
    if (!this.active.includes(alarm)) this.active = [...this.active, alarm]
    this.raised.set(alarm.kind, (this.raised.get(alarm.kind) ?? 0) + 1)
    this.#tell(alarm, 'raised')
  }

  /** Whoever has seen it has not seen this. @param {Alarm} alarm */
  #startAgain (alarm) {
    alarm.acknowledgedMs = null
    this.#start(alarm)
  }

  /** @param {Alarm} alarm */
  #clear (alarm) {
    this.active = this.active.filter(each => each !== alarm)
    alarm.clearedMs = this.#wallNow()
    this.recent = [alarm, ...this.recent].slice(0, MAX_RECENT)
    this.#tell(alarm, 'cleared')
  }

  /** Listeners get it as it is now: it goes on changing. @param {Alarm} alarm @param {Change} change */
  #tell (alarm, change) {
    for (const listener of this.#listeners) listener(structuredClone(alarm), change)
  }

  /** @param {Alarm} alarm  raised before the restart @param {number} more  that it counted until then */
  #restore (alarm, more) {
    const entries = this.#entries.get(alarm.kind)
    if (!entries) return // of a version that had such a kind
    const nowMs = this.#now()
    this.active.push(alarm)
    if (!alarm.isFromBefore && !this.#kinds.get(alarm.kind)?.event) { // what has happened is true for ever
      alarm.isFromBefore = true
      word(alarm, { what: phrase('before', { what: alarm.phrases?.what ?? alarm.what }) })
    }
    const worstMs = alarm.level === 'problem' ? nowMs : -Infinity
    if (alarm.subject.name === SEVERAL) this.#several.set(alarm.kind, alarm)
    else entries.set(alarm.id, { ...nothing(nowMs), worstMs, more, beganMs: alarm.raisedMs, alarm, isRestored: true })
  }

  #sort () {
    const rank = (/** @type {Alarm} */ { level }) => level === 'problem' ? 0 : 1
    this.active = this.active.toSorted((a, b) => rank(a) - rank(b) || b.raisedMs - a.raisedMs)
  }
}

/** What an alarm that stands for many is about. */
const SEVERAL = '(several)'

/** @param {string} kind @param {Subject} subject */
function idOf (kind, { type, name, nodeId }) { return `${kind}:${type}:${nodeId ?? name}` }

/** How long it has to be over. @param {Kind} kind @param {Entry} entry @param {import('./snapshot.js').Snapshot} snapshot */
function patienceMs ({ clearAfterMs, knows }, { alarm, isMember }, snapshot) {
  if (!alarm && !isMember) return 0
  if (!alarm?.isFromBefore) return clearAfterMs
  return knows?.(snapshot, alarm.subject) ? 0 : Math.max(clearAfterMs, RESTART_MS)
}

/** What is said of it. @param {Entry} entry */
function whatOf ({ finding, more }) {
  const { what } = /** @type {Finding} */ (finding)
  return typeof what === 'function' ? what(more) : what
}

/** In English, and for other languages. @param {Alarm} alarm @param {{what?: Phrase, reason?: Phrase, fix?: Phrase}} said */
function word (alarm, said) {
  for (const part of /** @type {const} */ (['what', 'reason', 'fix'])) {
    const its = said[part]
    if (its === undefined) continue
    alarm[part] = part === 'what' ? inOneLine(inEnglish(its)) : inEnglish(its)
    if (typeof its === 'string') delete alarm.phrases?.[part]
    else alarm.phrases = { ...alarm.phrases, [part]: its }
  }
}

/** As JSON has it. @param {Subject} subject @returns {Subject} */
function plain ({ type, name, nodeId }) { return nodeId === undefined ? { type, name } : { type, name, nodeId } }

/** @param {number} nowMs @returns {Entry} */
function nothing (nowMs) {
  return { finding: null, sinceMs: nowMs, seenMs: nowMs, worstMs: -Infinity, more: 0, beganMs: 0, alarm: null, isMember: false }
}

/** @param {Pick<Alarm, 'id'|'kind'|'level'|'subject'|'raisedMs'>} about @returns {Alarm} */
function newAlarm ({ id, kind, level, subject, raisedMs }) {
  return { id, kind, level, subject, what: '', fix: '', raisedMs, clearedMs: null, acknowledgedMs: null }
}
