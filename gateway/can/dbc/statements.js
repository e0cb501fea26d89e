/**
 * A DBC file cut into its statements, so that a broken one does not affect the others.
 *
 * @typedef {object} Statement
 * @property {number} line  where it begins, from 1
 * @property {string} keyword  "BO_", "SG_", …; "" where the line is not the start of a statement
 * @property {string} text  from the keyword on; of several lines where it ends with a semicolon
 * @property {string} [reason]  set when the statement is broken
 */

const KEYWORD = new RegExp(`^(${[
  'VERSION', 'NS_', 'BS_', 'BU_', 'BO_', 'SG_', 'BO_TX_BU_', 'EV_', 'EV_DATA_', 'ENVVAR_DATA_', 'SGTYPE_', 'SGTYPE_VAL_', 'SIG_GROUP_',
  'SIG_VALTYPE_', 'SIG_TYPE_REF_', 'SIGTYPE_VALTYPE_', 'SG_MUL_VAL_', 'CM_', 'VAL_TABLE_', 'VAL_', 'FILTER', 'CAT_DEF_', 'CAT_',
  'BA_DEF_DEF_REL_', 'BA_DEF_DEF_', 'BA_DEF_SGTYPE_', 'BA_SGTYPE_', 'BA_DEF_REL_', 'BA_DEF_', 'BA_REL_', 'BA_'
].join('|')})(?=[\\s:"]|$)`)
/** Longer ones would keep regular expressions busy for too long. */
const MAX_STATEMENT_CHARACTERS = 2 ** 20
const MAX_SHOWN_CHARACTERS = 1000
const ENDS_WITH_ITS_LINE = new Set(['VERSION', 'NS_', 'BS_', 'BU_', 'BO_', 'SG_'])

/**
 * @param {string} text
 * @returns {Generator<Statement, void>}
 */
export function * dbcStatements (text) {
  const lines = text.split(/\r\n|\n|\r/)
  let listing = false
  for (let at = 0; at < lines.length; at++) {
    const first = lines[at].trim()
    if (first === '' || first.startsWith('//')) continue
    const keyword = KEYWORD.exec(first)?.[1] ?? ''
    // Below NS_ are bare keywords, below BU_ perhaps more names.
    if (listing && /^[\w\s]+$/.test(first) && (keyword === '' || keyword === first)) continue
    listing = keyword === 'NS_' || keyword === 'BU_'

    const line = at + 1
    if (keyword === '') yield { line, keyword, text: first.slice(0, MAX_SHOWN_CHARACTERS), reason: 'not a statement of the DBC format' }
    else if (ENDS_WITH_ITS_LINE.has(keyword)) yield unlessTooLong({ line, keyword, text: first })
    else {
      const statement = terminated(lines, at)
      if (statement.reason) {
        yield { line, keyword, text: first.slice(0, MAX_SHOWN_CHARACTERS), reason: statement.reason }
        continue
      }
      yield unlessTooLong({ line, keyword, text: statement.text })
      at = statement.last
      if (statement.rest.trim() !== '') lines[at--] = statement.rest
    }
  }
}

/**
 * The statement that begins at a line and ends at the first semicolon outside quotes. One that lacks it ends where the next begins;
 * a quote that is never closed spoils its own line only.
 * @param {string[]} lines @param {number} from
 * @returns {{text: string, last: number, rest: string, reason?: string}}
 */
function terminated (lines, from) {
  const parts = []
  let quoted = false
  for (let at = from; at < lines.length; at++) {
    const line = lines[at]
    if (at > from && !quoted && KEYWORD.test(line.trim())) return { text: parts.join('\n'), last: at - 1, rest: '' }
    let openedBefore = quoted
    for (let i = 0; i < line.length; i++) {
      if (line[i] === '"' && line[i - 1] !== '\\') {
        quoted = !quoted
        // A text over several lines is the last thing in its statement: a quote in another place is the next statement's.
        if (openedBefore && !/^\s*;/.test(line.slice(i + 1))) return broken()
        openedBefore = false
      } else if (line[i] === ';' && !quoted) {
        parts.push(line.slice(0, i))
        return { text: parts.join('\n').trim(), last: at, rest: line.slice(i + 1) }
      }
    }
    parts.push(line)
  }
  return quoted ? broken() : { text: parts.join('\n').trim(), last: lines.length - 1, rest: '' }
}

/** @param {Statement} statement @returns {Statement} */
function unlessTooLong (statement) {
  if (statement.text.length <= MAX_STATEMENT_CHARACTERS) return statement
  return { ...statement, text: statement.text.slice(0, MAX_SHOWN_CHARACTERS), reason: `a statement of ${statement.text.length} characters` }
}

function broken () {
  return { text: '', last: 0, rest: '', reason: 'a quoted text is not closed' }
}
