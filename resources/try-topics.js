import { refusedText } from './refused.js'
import { rowOf } from './topic-row.js'

const PERIOD_MS = 500
/** The pause in typing after which what is typed is tried. */
const PAUSE_MS = 200

/**
 * @typedef {{state: 'connecting'|'listening'|'ended', remainingMs: number, durationMs: number, messages: number, topics: number,
 *   problem?: string}} Progress
 * @typedef {{topic: string, mapping: number, source?: string, refused: number}} Found
 * @typedef {{ok: true, problem?: string, progress?: Progress, found: Found[], row: import('./topic-row.js').Row|null}} Answer
 */

/**
 * Tries mappings of topics while they are edited: on the messages of the broker, which is listened to for a while, or on one that is
 * pasted. What has been heard is kept on the gateway, so that editing needs no new listening.
 */
export class TopicsTrial {
  #kind
  #read
  #text
  #panel
  /** Of what has been heard. @type {string|undefined} */
  #session
  #isListening = false
  /** What the list shows, as JSON. */
  #listed = ''
  /** The topic whose row is shown. @type {string|undefined} */
  #chosen
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer
  /** @type {JQueryRequest|undefined} */
  #request

  /**
   * @param {HTMLElement} element  where it is shown
   * @param {object} options
   * @param {'listen'|'message'} options.kind
   * @param {() => {mappings: object[], topics?: string, timeUnit?: string, server: object|null}} options.read  the form
   * @param {(key: string, values?: object) => string} options.text  of the form's catalogue
   */
  constructor (element, { kind, read, text }) {
    this.#kind = kind
    this.#read = read
    this.#text = text
    this.#panel = $(element).addClass('sluice-topics').append(kind === 'listen' ? this.#listenBar() : this.#messageBar(), `
      <p class="sluice-problem" role="alert"></p>
      <p class="sluice-topics-count" role="status"></p>
      <div class="sluice-topics-found"><ul></ul><div class="sluice-topics-row"></div></div>`)
    this.changed()
  }

  /** The form holds something else: it is tried once nothing more is typed. */
  changed () {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#ask(), PAUSE_MS)
  }

  #listenBar () {
    const listen = $('<button type="button" class="red-ui-button" data-do="listen">').text(this.#text('listen'))
    listen.on('click', () => this.#isListening ? this.#stop() : this.#listen())
    const progress = $('<progress max="1" value="0">').prop('hidden', true)
    return $('<div class="sluice-topics-bar">').append(listen, progress, $('<span role="status">').text(this.#text('listenHint')))
  }

  #messageBar () {
    const topic = $('<input type="text" data-trial="topic">').attr('placeholder', 'plant/press/7/telemetry')
    const payload = $('<textarea rows="3" data-trial="payload">').attr('placeholder', '{"temperature": 21.5}')
    const label = (/** @type {string} */ key, /** @type {JQuery} */ field) => $('<label>').append($('<span>').text(this.#text(key)), field)
    return $('<div class="sluice-topics-message">').append(label('tryTopic', topic), label('tryPayload', payload))
  }

  #listen () {
    const { server, mappings, topics } = this.#read()
    if (!server) return this.#complain(this.#text('listenNoBroker'))
    this.#session = undefined
    this.#listening(true)
    this.#say(this.#text('listenConnecting'))
    this.#post('listen', { server, mappings, topics }, ({ session }) => {
      this.#session = session
      this.#ask()
    }, () => this.#listening(false))
  }

  #stop () {
    this.#post('stop', { session: this.#session }, () => this.#ask())
  }

  #ask () {
    clearTimeout(this.#timer)
    if (!this.#panel[0].isConnected) {
      if (this.#isListening) this.#post('stop', { session: this.#session })
      return
    }
    if (this.#isListening && !this.#session) return // it is about to
    const { mappings, timeUnit } = this.#read()
    const message = this.#kind === 'message' ? this.#message() : undefined
    if (mappings.length === 0 && !this.#session && !message) return this.#show({ ok: true, found: [], row: null })
    this.#post('try', { session: this.#session, message, mappings, timeUnit, topic: this.#chosen }, answer => this.#show(answer), () => {
      this.#session = undefined
      this.#listening(false)
      this.#show({ ok: true, found: [], row: null })
    })
  }

  /** The message that is pasted. */
  #message () {
    const [topic, payload] = ['topic', 'payload'].map(name => this.#panel.find(`[data-trial=${name}]`).val())
    return topic || payload ? { topic, payload } : undefined
  }

  /** @param {Answer} answer */
  #show ({ problem, progress, found, row }) {
    if (progress) this.#progress(progress)
    this.#complain(problem ?? progress?.problem ?? '')
    if (problem) return // what was found before stays in sight
    const matching = found.filter(({ mapping }) => mapping !== -1)
    const others = found.filter(({ mapping }) => mapping === -1)
    const isListed = this.#kind === 'listen' && found.length > 0
    this.#panel.find('.sluice-topics-count').text(isListed ? this.#counts(matching.length, others.length) : '')
    this.#list(isListed ? [...matching, ...others] : [], row?.topic)
    this.#panel.find('.sluice-topics-row').empty().append(row ? rowOf(row, this.#text) : [])
  }

  /**
   * Its buttons stay while nothing but the choice changes: one may be pressed, or have the focus.
   * @param {Found[]} found @param {string} [chosen]
   */
  #list (found, chosen) {
    const list = this.#panel.find('ul').prop('hidden', found.length === 0)
    const listed = JSON.stringify(found)
    if (listed !== this.#listed) list.empty().append(found.map(each => this.#item(each)))
    this.#listed = listed
    list.find('button').each((i, button) => { button.classList.toggle('sluice-chosen', found[i].topic === chosen) })
  }

  /** "12 topics match, 3 do not." @param {number} matching @param {number} others */
  #counts (matching, others) {
    const [yes, no] = [matching === 1 ? 'topicMatches' : 'topicsMatch', others === 1 ? 'topicDoesNot' : 'topicsDoNot']
    return `${this.#text(yes, { n: matching })}, ${this.#text(no, { n: others })}.`
  }

  /** @param {Found} found */
  #item ({ topic, mapping, refused }) {
    const mark = $('<span class="sluice-topics-mark">').text(mapping === -1 ? '–' : String(mapping + 1))
    const button = $('<button type="button">').append(mark, $('<span>').text(topic))
      .toggleClass('sluice-unmatched', mapping === -1)
      .on('click', () => {
        this.#chosen = topic
        this.#ask()
      })
    if (refused > 0) button.append($('<span class="sluice-topics-refused">').text(this.#text('refusedCount', { n: refused })))
    return $('<li>').append(button)
  }

  /** @param {Progress} progress */
  #progress ({ state, remainingMs, durationMs, messages, topics }) {
    this.#listening(state !== 'ended')
    const values = { messages, topics, s: Math.ceil(remainingMs / 1000) }
    this.#panel.find('progress').attr('value', 1 - remainingMs / durationMs)
    const key = { connecting: 'listenConnecting', listening: 'listening', ended: topics === 0 ? 'listenNothing' : 'listenEnded' }[state]
    this.#say(this.#text(key, values))
    if (state !== 'ended') this.#timer = setTimeout(() => this.#ask(), PERIOD_MS)
  }

  /** @param {boolean} isListening */
  #listening (isListening) {
    this.#isListening = isListening
    this.#panel.find('[data-do=listen]').text(this.#text(isListening ? 'listenStop' : 'listen'))
    this.#panel.find('progress').prop('hidden', !isListening)
  }

  /** @param {string} sentence */
  #say (sentence) {
    this.#panel.find('.sluice-topics-bar [role=status]').text(sentence)
  }

  /** @param {string} sentence */
  #complain (sentence) {
    this.#panel.find('.sluice-problem').first().text(sentence)
  }

  /** @param {string} what @param {object} body @param {(answer: any) => void} [answered] @param {() => void} [failed] */
  #post (what, body, answered = () => {}, failed = () => {}) {
    this.#request?.abort()
    const options = { url: `sluice-topics/${what}`, method: 'POST', contentType: 'application/json', data: JSON.stringify(body) }
    const request = this.#request = $.ajax(options)
    const complain = (/** @type {string} */ sentence) => {
      failed()
      this.#complain(sentence)
    }
    request.then(answer => answer.ok ? answered(answer) : complain(answer.text), refused => {
      if (refused.statusText !== 'abort') complain(refusedText(refused, 'listen', this.#text))
    })
  }
}
