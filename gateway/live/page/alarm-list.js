import { button, byId, element, say } from './dom.js'
import { counted, text } from './text.js'
import { clock, lasting, since } from './times.js'

/**
 * @typedef {import('../overview/overview.js').LinkedAlarm} Alarm
 * @typedef {{item: HTMLElement, update: (alarm: Alarm, nowMs: number, link: HTMLElement|null) => void}} Shown
 */

/** What is wrong, problems first; below, folded, what was. */
export class AlarmList {
  #plant
  #list = byId('alarms')
  #past = /** @type {HTMLDetailsElement} */ (byId('past-alarms'))
  /** @type {Map<string, Shown>} */
  #shown = new Map()
  #pastText = ''

  /** @param {import('./plant.js').Plant} plant */
  constructor (plant) { this.#plant = plant }

  /** @param {string|null} editor  where it is */
  show (editor) {
    const { alarms, recent, timeMs: nowMs } = this.#plant
    const ids = new Set(alarms.map(({ id }) => id))
    for (const [id, { item }] of this.#shown) {
      if (ids.has(id)) continue
      item.remove()
      this.#shown.delete(id)
    }
    for (const [i, alarm] of alarms.entries()) {
      const shown = this.#shown.get(alarm.id) ?? alarmItem(alarm)
      this.#shown.set(alarm.id, shown)
      shown.update(alarm, nowMs, placeOf(alarm, this.#plant, editor))
      if (this.#list.children[i] !== shown.item) this.#list.insertBefore(shown.item, this.#list.children[i] ?? null)
    }
    this.#list.hidden = alarms.length === 0
    this.#showPast(recent)
  }

  /** @param {Alarm[]} recent */
  #showPast (recent) {
    const now = JSON.stringify(recent)
    if (now === this.#pastText) return
    this.#pastText = now
    this.#past.hidden = recent.length === 0
    say(/** @type {Element} */ (this.#past.querySelector('summary')), text('alarms.past', { count: recent.length }))
    this.#past.querySelector('ul')?.replaceChildren(...recent.map(({ what, raisedMs, clearedMs }) => {
      const values = { from: clock(raisedMs), to: clock(clearedMs ?? raisedMs), lasting: lasting((clearedMs ?? raisedMs) - raisedMs) }
      return element('li', {}, element('b', {}, what), ' ', element('span', { class: 'dim' }, text('alarms.was', values)))
    }))
  }
}

/** @param {Alarm} first @returns {Shown} */
function alarmItem (first) {
  const [what, when, reason, fix, seen] = ['b', 'span', 'p', 'p', 'span'].map(tag => element(/** @type {'p'} */ (tag)))
  const badge = element('span', { class: 'badge' })
  const place = element('span')
  const acknowledge = button(text('alarms.acknowledge'), async () => {
    acknowledge.disabled = true
    say(seen, await send(first.id))
    acknowledge.disabled = false
  })
  const head = element('div', { class: 'alarm-head' }, badge, what, when)
  const item = element('li', {}, head, reason, fix, element('div', { class: 'alarm-foot' }, acknowledge, seen, place))
  when.className = seen.className = 'dim'
  reason.className = 'reason'
  fix.className = 'fix'
  return {
    item,
    update (alarm, nowMs, link) {
      item.className = `alarm ${alarm.level}${alarm.acknowledgedMs === null ? '' : ' seen'}`
      say(badge, text(`level.${alarm.level}`))
      say(what, alarm.what)
      const lasts = since(alarm.raisedMs, nowMs)
      say(when, alarm.isFromBefore ? text('alarms.checking', { since: lasts }) : lasts)
      say(reason, alarm.reason ?? '')
      reason.hidden = !alarm.reason
      say(fix, alarm.fix)
      if (place.innerHTML !== (link?.outerHTML ?? '')) place.replaceChildren(link ?? '')
      acknowledge.hidden = alarm.acknowledgedMs !== null
      acknowledge.setAttribute('aria-label', text('alarms.acknowledgeOne', { what: alarm.what }))
      if (alarm.acknowledgedMs !== null) say(seen, text('alarms.seen', { time: clock(alarm.acknowledgedMs, nowMs) }))
    }
  }
}

/**
 * A link to the page of what it is about, or else to its node in the editor.
 * @param {Alarm} alarm
 * @param {import('./plant.js').Plant} plant
 * @param {string|null} editor
 */
function placeOf ({ subject: { type, name, nodeId = '' }, editorId }, plant, editor) {
  const to = (/** @type {string} */ href, /** @type {string} */ words) => element('a', { href }, words)
  if (type === 'sink' && plant.sink(nodeId)) return to(`#sink/${encodeURIComponent(nodeId)}`, text('alarms.show', { name }))
  if (type === 'source' && plant.source(name)) return to(`#source/${encodeURIComponent(name)}`, text('alarms.show', { name }))
  return editorId !== undefined && editor !== null ? to(`${editor}#node/${editorId}`, text('detail.editor')) : null
}

/** @param {string} id @returns {Promise<string>} what came of it */
async function send (id) {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(`alarms/${encodeURIComponent(id)}/acknowledge`, { method: 'POST', headers, body: '{}' }).catch(() => null)
  if (answer?.ok) return text('alarms.sent')
  if (answer?.status === 403) return text('alarms.mayNot')
  return text('alarms.failed', { status: answer ? counted(answer.status) : text('alarms.noAnswer') })
}
