/**
 * What is said of a value that an option may not have: in English, until the editor says it in the reader's language.
 */
export const sentences = {
  missing: '__title__ is missing.',
  nodeMissing: '__title__ is missing: choose one, or make one.',
  nodeGone: '__title__ is no longer there: choose another, or make one.',
  nodeWrong: '__title__ has settings that are wrong: open it.',
  choice: '__title__ must be one of __choices__; __given__ is not one of them.',
  boolean: '__title__ must be true or false; __given__ is neither.',
  text: '__title__ must be a text.',
  noText: '__title__ has the character NUL or half of another: delete it and type it anew.',
  tooShort: '__title__ must have at least __limit__ characters.',
  tooLong: '__title__ must have at most __limit__ characters; it has __length__.',
  tooManyBytes: '__title__ must have at most __limit__ bytes, of which letters such as ü take two or more; it has __length__.',
  pattern: '__title__ must look like __example__; __given__ does not.',
  list: '__title__ must be a list.',
  noEntry: '__title__ must have at least 1 entry.',
  tooFew: '__title__ must have at least __limit__ entries.',
  tooMany: '__title__ must have at most __limit__ entries; it has __length__.',
  entry: '__title__, entry __n__: __problem__',
  table: '__title__, __rows__',
  row: 'Row __n__: __problem__',
  laterRow: 'row __n__: __problem__',
  more: 'And __n__ more.',
  object: '__given__ is not an object.',
  unique: '__title__ must be unique; __given__ is in row __n__ too.',
  number: '__title__ must be __range__; __complaint__.',
  anyNumber: 'a number',
  wholeNumber: 'a whole number',
  between: 'between __minimum__ and __maximum__',
  atLeast: 'at least __limit__',
  moreThan: 'more than __limit__',
  atMost: 'at most __limit__',
  both: '__one__ and __other__',
  notNumber: '__given__ is not a number',
  notWhole: '__given__ is not a whole number',
  tooSmall: '__given__ is too small',
  tooLarge: '__given__ is too large',
  comma: '__given__ needs a point: __meant__',
  written: '__given__ is written __meant__',
  ambiguous: '__given__ may be __decimal__ or __thousands__: write the one that is meant',
  blanks: '__title__ begins or ends with a blank, which is part of it: __given__.',
  readAs: '__given__ is read as __value__: write __thousands__ if that is meant.',
  cell: '__title__ __fault__.',
  noName: 'has no name',
  timeName: 'cannot be the name of a value: it is the name of the time',
  qualityName: 'is the name of the column that says why values are missing',
  longName: 'has a name of over __limit__ characters',
  oneOf: 'must be one of __choices__; __given__ is not one of them',
  zero: 'must not be 0',
  aboveHighest: 'must not be above the highest',
  bitAddress: 'must look like 100.3, for bit 3 of register 100',
  wholeAddress: 'must be a whole number',
  bitNamed: 'names a bit: only the type bit has one',
  bitNotNamed: 'must name a bit, such as 100.3',
  bitUnknown: 'names bit __bit__: a register has bits 0 to 15',
  addressRange: 'must be 0 to __last__',
  sheetDigits: 'must have five or six digits, the first of them 0, 1, 3 or 4, such as 40001',
  sheetArea: '__given__ is one of the __named__, not of the __area__',
  sheetCount: 'must count from 1 to __last__ after its first digit',
  onlyRead: 'can only be read',
  bitWritten: 'must not be bit: the other bits of the register would be written too',
  registerType: '__type__ is for registers; here it must be bool',
  bitType: 'bool is for coils and discrete inputs; for a register, choose bit',
  noSpace: 'leaves no space for its __count__ registers',
  tooManyWords: 'needs __count__ registers, and the device returns __limit__ at a time',
  noTags: 'There are no tags. Add one to the table, or import a CSV file.',
  crowded: 'The group "__group__" has __count__ tags. Give some of them another group: each can have __limit__.',
  broadcast: '__title__ 0 addresses all devices of a serial line, and none of them answers. Give the address of one device.',
  units: '__title__ go from 0 to __last__, upwards; __given__ does not.',
  sameAddress: 'Two rows of the registers use address __address__ of the __area__.',
  noFit: 'A value of __count__ registers does not fit at address __address__: __last__ is the last.',
  framing: 'The fault __fault__ is for connections of __kind__ only.',
  exchanged: 'The lowest value, __lowest__, is above the highest, __highest__. Exchange them.',
  portIn: 'The port in __title__',
  loginInUrl: '__title__ contains a user or password. Enter them in their own fields, which are kept encrypted, and take them out here.',
  noKey: 'The layout "upsert" has no key. Name the fields or tags by which a row is known.',
  ownKey: 'The key of the layout "upsert" cannot be its own column "__column__". Name the fields or tags by which a row is known.',
  hypertable: 'A hypertable, which is cut by time, cannot find rows by a key alone. Switch Hypertable off, or set another layout than ' +
    '"upsert".',
  udpVersion: 'Only version 1 of InfluxDB accepts datagrams. Choose http, or a server of version 1.',
  noGroup: 'Member __member__ of __members__ has no group. Give all members the same group, and their sinks the same names: what one has ' +
    'stored counts for all.',
  noMember: 'There is no member __member__ of __members__. Number the members 1 to __members__, each its own.',
  timeZone: '__title__: __given__ is not a time zone. Give one such as Europe/Berlin, or UTC.',
  openQuote: 'The quote in line __n__ is not closed.',
  column: 'column __n__',
  groupSign: ','
}

/** @typedef {keyof typeof sentences} Sentence */

/** @type {(key: Sentence, values?: Record<string, string|number>) => string} */
let speaker = (key, values = {}) => sentences[key].replace(/__(\w+?)__/g, (_, name) => String(values[name]))

/** @param {Sentence} key @param {Record<string, string|number>} [values] */
export const say = (key, values) => speaker(key, values)

/** Has everything said in the words of a catalogue. @param {typeof speaker} other */
export function speakAs (other) {
  speaker = other
}

/** A number as a sentence has it: its decimal sign is always the point, which is what fields take. @param {number} number */
export function grouped (number) {
  return number.toLocaleString('en-US', { maximumFractionDigits: 20 }).replaceAll(',', say('groupSign'))
}
