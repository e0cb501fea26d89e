import { refusedText } from './refused.js'

/** So many bad lines are listed; of the others, how many they are. */
const LISTED_WARNINGS = 50

/**
 * Makes the button next to the path of a DBC file report what is in the file, and list its bad lines.
 * @param {JQuery} row  of the form
 * @param {() => string} dbcFile  its path, as the form has it
 * @param {(key: string, values?: object) => string} text  of the form's catalogue
 */
export function prepareCheck (row, dbcFile, text) {
  const button = row.find('button')
  const result = row.find('.sluice-check')
  /** @type {JQueryRequest|null} */
  let request = null

  const show = (/** @type {string} */ state, /** @type {unknown[]} */ ...parts) => {
    request = null
    button.prop('disabled', state === 'trying')
    result.attr('data-state', state).empty().append(parts)
  }

  button.on('click', () => {
    show('trying', text('dbcChecking'))
    const data = JSON.stringify({ dbcFile: dbcFile() })
    const asked = request = $.ajax({ url: 'sluice-can/dbc', method: 'POST', contentType: 'application/json', data })
    asked.then(answer => {
      if (asked !== request) return
      if (answer.ok) show(answer.warnings.length > 0 || answer.hint ? 'doubtful' : 'good', ...report(answer, text))
      else show('bad', document.createTextNode(answer.text))
    }, failed => {
      if (asked === request) show('bad', document.createTextNode(refusedText(failed, 'dbc', text)))
    })
  })
  row.find('input').on('input change', () => { // what was found no longer holds
    request?.abort()
    show('none')
  })
}

/**
 * @param {{messages: number, signals: number, warnings: {line: number, text: string, reason: string}[], hint?: string}} answer
 * @param {(key: string, values?: object) => string} text
 */
function report ({ messages, signals, warnings, hint }, text) {
  const found = [text('dbcFound', { messages, signals }), ...hint ? [hint] : []].map(line => $('<p>').text(line))
  if (warnings.length === 0) return found
  const list = $('<ol>').append(warnings.slice(0, LISTED_WARNINGS).map(({ line, text: content, reason }) =>
    $('<li>').attr('value', line).append(document.createTextNode(reason), $('<code>').text(content))))
  const more = warnings.length - LISTED_WARNINGS
  const count = $('<p>').text(text(warnings.length === 1 ? 'dbcWarning' : 'dbcWarnings', { n: warnings.length }))
  return [...found, count, list, ...more > 0 ? [$('<p>').text(text('dbcMore', { n: more }))] : []]
}
