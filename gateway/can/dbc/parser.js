import { parseChoices } from './choices.js'
import { dbcStatements } from './statements.js'
import { MAX_GROUP_BYTES } from '../j1939/identifier.js'
import { compileMessage } from './message.js'
import { hintOf, protocolsOf } from './protocol.js'

/**
 * @typedef {import('./message.js').Message} Message
 * @typedef {import('./message.js').ParsedMessage} ParsedMessage
 * @typedef {import('./message.js').ParsedSignal} ParsedSignal
 * @typedef {{line: number, text: string, reason: string}} Warning
 * @typedef {{messages: Message[], warnings: Warning[], hint: string}} Dbc  `hint`: what the user may have to choose for the file as a whole
 *
 * @typedef {object} DbcOptions
 * @property {import('./protocol.js').Matching} [matching]  which messages are parameter groups
 * @property {import('./missing.js').Indicators} [indicators]  what errors and reserved values of parameter groups are read as
 */

const EXTENDED_FLAG = 0x80000000
const MAX_STANDARD_ID = 0x7FF
const MAX_EXTENDED_ID = 0x1FFFFFFF
const MAX_SIGNAL_BITS = 64
/** Holds the signals that belong to no message. */
const NO_MESSAGE_ID = 0xC0000000

const NUMBER = String.raw`([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)`
const STRING = String.raw`"([^"\\]*(?:(?:\\"|\\(?!"))[^"\\]*)*)"`
const MESSAGE = /^BO_\s+(\d+)\s+([^\s:]+)\s*:\s*(\d+)(?=\s|$)/
const SIGNAL = new RegExp(String.raw`^SG_\s+([^\s:]+)(?:\s+(M|m\s*\d*\s*M?))?\s*:\s*(\d+)\s*\|\s*(\d+)\s*@\s*([01])\s*([-+])\s*` +
  String.raw`\(\s*${NUMBER}\s*,\s*${NUMBER}\s*\)\s*(?:\[\s*${NUMBER}?\s*\|\s*${NUMBER}?\s*\])?\s*(?:${STRING})?`)
const VALUE_TYPE = /^SIG_VALTYPE_\s+(\d+)\s+(\S+)(?:\s*:\s*|\s+)([0-3])$/
const MULTIPLEX_VALUES = /^SG_MUL_VAL_\s+(\d+)\s+(\S+)\s+(\S+)\s+(\d+\s*-\s*\d+(?:\s*,\s*\d+\s*-\s*\d+)*)$/
const TABLE = /^VAL_TABLE_\s+(\w+)\s*([^]*)$/
const SIGNAL_CHOICES = /^VAL_\s+(\d+)\s+([^\s"]+)\s*([^]*)$/
const VARIABLE_CHOICES = /^VAL_\s+[A-Za-z_]\w*\s*([^]*)$/
const ATTRIBUTE_ENUM = new RegExp(String.raw`^BA_DEF_\s+BO_\s+${STRING}\s+ENUM\s+(.*)$`, 's')
const ATTRIBUTE_DEFAULT = new RegExp(String.raw`^BA_DEF_DEF_\s+${STRING}\s+(?:${STRING}|(\S+))$`)
const ATTRIBUTE = new RegExp(String.raw`^BA_\s+${STRING}\s+` +
  String.raw`(?:BO_\s+(\d+)\s+|SG_\s+(\d+)\s+(\S+)\s+|(?:BU_|EV_)\s+\S+\s+)?(?:${STRING}|(\S+))$`)
/** The full names of what the format cuts to 32 characters. */
const LONG_MESSAGE_NAME = 'SystemMessageLongSymbol'
const LONG_SIGNAL_NAME = 'SystemSignalLongSymbol'

/**
 * Reads a DBC file's text. What cannot be used is left out and listed, never thrown.
 * @param {string} text
 * @param {DbcOptions} [options]
 * @returns {Dbc}
 */
export function parseDbc (text, options = {}) {
  return new DbcParser().parse(text, options)
}

class DbcParser {
  /** By the number the file gives, flags included. @type {Map<number, ParsedMessage>} */
  #messages = new Map()
  /** @type {Warning[]} */
  #warnings = []
  /**
   * The message whose SG_ lines follow; null where they are lost with it, undefined where there was none.
   * @type {ParsedMessage|null|undefined}
   */
  #current
  /** @type {string[]} */
  #frameFormats = []
  #defaultFrameFormat = ''
  #protocol = ''
  /** @type {Map<string, Map<bigint, string>>} */
  #tables = new Map()

  /** @param {string} text @param {DbcOptions} options @returns {Dbc} */
  parse (text, { matching = 'file', indicators = 'missing' }) {
    const statements = [...dbcStatements(text)]
    // Messages first: all other statements name them.
    for (const statement of statements) this.#read(statement, this.#structure)
    for (const statement of statements) this.#read(statement, this.#details)
    const parsed = [...this.#messages.values()]
    for (const message of parsed) message.frameFormat ||= this.#defaultFrameFormat || this.#protocol
    const protocolOf = protocolsOf(parsed, matching)
    const warn = (/** @type {import('./message.js').Place} */ { line, text: where }, /** @type {string} */ reason) => {
      this.#warn(line, where, reason)
    }
    const messages = parsed.map(message => compileMessage(message, { protocol: protocolOf(message), indicators, warn }))
    for (const { line, text: where, reason } of statements) if (reason) this.#warn(line, where, reason)
    this.#warnings.sort((a, b) => a.line - b.line)
    return { messages, warnings: this.#warnings, hint: hintOf(parsed, messages) }
  }

  /**
   * @param {import('./statements.js').Statement} statement
   * @param {Record<string, (text: string, line: number) => string|void>} readers  each returns what is wrong, if anything
   */
  #read ({ line, keyword, text, reason }, readers) {
    if (reason || !Object.hasOwn(readers, keyword)) return
    const fault = readers[keyword](text, line)
    if (fault) this.#warn(line, text, fault)
  }

  #structure = {
    BO_: (/** @type {string} */ text, /** @type {number} */ line) => {
      this.#current = null
      const match = MESSAGE.exec(text)
      if (!match) return 'not a message'
      const number = Number(match[1])
      if (number === NO_MESSAGE_ID) return
      const flagged = number >= EXTENDED_FLAG
      const id = flagged ? number - EXTENDED_FLAG : number
      if (id > MAX_EXTENDED_ID) return `identifier ${number} exceeds 29 bits`
      const replaces = this.#messages.get(number)
      this.#current = {
        id,
        extended: flagged || id > MAX_STANDARD_ID,
        name: match[2],
        length: Math.min(Number(match[3]), MAX_GROUP_BYTES),
        frameFormat: '',
        signals: new Map(),
        line,
        text
      }
      this.#messages.set(number, this.#current)
      if (replaces) return `replaces ${replaces.name} of line ${replaces.line}, which has the same identifier`
      if (Number(match[3]) > MAX_GROUP_BYTES) return `${match[3]} bytes: no message has more than ${MAX_GROUP_BYTES}`
      if (!flagged && id > MAX_STANDARD_ID) return `identifier ${number} exceeds 11 bits without the flag for 29: read as 29 bits`
    },

    SG_: (/** @type {string} */ text, /** @type {number} */ line) => {
      if (this.#current === undefined) return 'a signal before any message'
      if (this.#current === null) return
      const match = SIGNAL.exec(text)
      if (!match) return 'not a signal'
      const [, name, multiplexing = '', start, length, order, sign, factor, offset, minimum, maximum, unit = ''] = match
      /** @type {ParsedSignal} */
      const signal = {
        name,
        unit,
        start: Number(start),
        length: Number(length),
        littleEndian: order === '1',
        signed: sign === '-',
        floatBits: 0,
        factor: Number(factor),
        offset: Number(offset),
        ...rangeOf(Number(minimum), Number(maximum)),
        choices: new Map(),
        isSwitch: multiplexing.endsWith('M'),
        parent: null,
        selectors: [],
        line,
        text
      }
      if (multiplexing.startsWith('m')) {
        const value = parseInt(multiplexing.slice(1))
        signal.selectors = [[value, value]]
      }
      if (signal.length < 1 || signal.length > MAX_SIGNAL_BITS) return `${length} bits, not 1 to ${MAX_SIGNAL_BITS}`
      if (signal.start + signal.length > MAX_GROUP_BYTES * 8) return 'outside of any frame'
      if (!Number.isFinite(signal.factor) || !Number.isFinite(signal.offset)) return 'factor or offset is too large'
      const replaces = this.#current.signals.get(name)
      this.#current.signals.set(name, signal)
      if (replaces) return `replaces ${name} of line ${replaces.line} in the same message`
    },

    VAL_TABLE_: (/** @type {string} */ text) => {
      const [, name, pairs] = TABLE.exec(text) ?? []
      const choices = pairs === undefined ? undefined : parseChoices(pairs)
      if (!choices) return 'not a table of values'
      this.#tables.set(name, choices)
    }
  }

  #details = {
    SIG_VALTYPE_: (/** @type {string} */ text) => {
      const match = VALUE_TYPE.exec(text)
      if (!match) return 'not a value type'
      const [, message, name, type] = match
      return this.#withSignal(message, name, signal => { signal.floatBits = type === '1' ? 32 : type === '2' ? 64 : 0 })
    },

    SG_MUL_VAL_: (/** @type {string} */ text) => {
      const match = MULTIPLEX_VALUES.exec(text)
      if (!match) return 'not the values of a multiplexor'
      const [, message, name, parent, ranges] = match
      return this.#withSignal(message, name, signal => {
        signal.parent = parent
        signal.selectors = ranges.split(',').map(range => /** @type {[number, number]} */ (range.split('-').map(Number)))
      })
    },

    VAL_: (/** @type {string} */ text) => {
      const match = SIGNAL_CHOICES.exec(text)
      if (!match) {
        const pairs = VARIABLE_CHOICES.exec(text)?.[1]
        return pairs !== undefined && parseChoices(pairs) ? undefined : 'not the names of values'
      }
      const [, message, name, pairs] = match
      const choices = this.#tables.get(pairs) ?? parseChoices(pairs)
      return choices ? this.#withSignal(message, name, signal => { signal.choices = choices }) : 'not the names of values'
    },

    BA_DEF_: (/** @type {string} */ text) => {
      const match = ATTRIBUTE_ENUM.exec(text)
      if (match?.[1] === 'VFrameFormat') this.#frameFormats = Array.from(match[2].matchAll(new RegExp(STRING, 'g')), ([, name]) => name)
    },

    BA_DEF_DEF_: (/** @type {string} */ text) => {
      const match = ATTRIBUTE_DEFAULT.exec(text)
      if (!match) return 'not the default of an attribute'
      const [, name, value = match[3]] = match
      if (name === 'VFrameFormat') this.#defaultFrameFormat = value
      if (name === 'ProtocolType') this.#protocol ||= value
    },

    BA_: (/** @type {string} */ text) => {
      const match = ATTRIBUTE.exec(text)
      if (!match) return 'not an attribute'
      const [, attribute, message, signalMessage, signal, quoted, bare] = match
      const value = quoted ?? bare
      if (attribute === 'ProtocolType' && !message) this.#protocol = value
      if (attribute === 'VFrameFormat' && message) {
        return this.#withMessage(message, target => { target.frameFormat = this.#frameFormats[Number(value)] ?? value })
      }
      if (attribute === LONG_MESSAGE_NAME && message) return this.#withMessage(message, target => { target.name = value })
      if (attribute === LONG_SIGNAL_NAME && signal) return this.#withSignal(signalMessage, signal, target => { target.name = value })
    }
  }

  /** @param {string} number @param {(message: ParsedMessage) => void} change @returns {string|void} */
  #withMessage (number, change) {
    const message = this.#messages.get(Number(number))
    if (!message) return `there is no message ${number}`
    change(message)
  }

  /** @param {string} number @param {string} name @param {(signal: ParsedSignal) => void} change @returns {string|void} */
  #withSignal (number, name, change) {
    if (Number(number) === NO_MESSAGE_ID) return
    const message = this.#messages.get(Number(number))
    if (!message) return `there is no message ${number}`
    const signal = message.signals.get(name)
    if (!signal) return `message ${message.name} has no signal ${name}`
    change(signal)
  }

  /** @param {number} line @param {string} text @param {string} reason */
  #warn (line, text, reason) {
    this.#warnings.push({ line, text, reason })
  }
}

/** The limits of a DBC; `[0|0]` means that there are none. @param {number} minimum @param {number} maximum */
function rangeOf (minimum, maximum) {
  return minimum < maximum ? { minimum, maximum } : { minimum: -Infinity, maximum: Infinity }
}
