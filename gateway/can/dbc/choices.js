/**
 * The value tables of a DBC file: names of raw values, which are whole numbers.
 */

const PAIR = /\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\s*"([^"\\]*(?:(?:\\"|\\(?!"))[^"\\]*)*)"/y

/**
 * @param {string} text  e.g. `0 "off" 1 "on"`
 * @returns {Map<bigint, string>|undefined} undefined where it is not a table
 */
export function parseChoices (text) {
  const choices = new Map()
  PAIR.lastIndex = 0
  let end = 0
  for (let match; (match = PAIR.exec(text)); end = PAIR.lastIndex) {
    const [, value, name] = match
    if (!Number.isInteger(Number(value))) continue
    const raw = /[.eE]/.test(value) ? BigInt(Number(value)) : BigInt(value)
    choices.set(raw, name.replaceAll('\\"', '"'))
  }
  return text.slice(end).trim() === '' ? choices : undefined
}

/**
 * Messages as they are decoded with texts: a signal that has a table of values becomes a string, of the name or the digits of its value.
 * @param {import('./message.js').Message[]} messages
 * @returns {import('./message.js').Message[]}
 */
export function withTexts (messages) {
  return messages.map(message => ({
    ...message,
    signals: message.signals.map(signal => signal.choices.size === 0 ? signal : { ...signal, type: 'string', read: signal.readText })
  }))
}
