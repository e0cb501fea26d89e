/** @typedef {'sources'|'gateways'|'topics'} Offered */

/**
 * Has a field offer what the gateway has heard of, or a server has, asked anew whenever it is entered. Anything else may be typed, too. A
 * list of texts gets a field below it, from which they are taken.
 * @param {JQuery} field
 * @param {Offered} what
 * @param {object} options
 * @param {() => {id: string, type: string, options: object}|null} options.server  as the form names it
 * @param {(key: string) => string} options.text  of the form's catalogue
 */
export function offer (field, what, { server, text }) {
  const id = `${field.attr('id')}-offers`
  const list = $('<datalist>').attr('id', id).insertAfter(field)
  const entry = field.is('textarea') ? adder(field, text(`offer.${what}`)) : field
  entry.attr('list', id).on('focus', () => {
    const asked = what === 'topics' ? server() : null
    const url = `sluice-staging/${asked ? `${asked.type}/topics` : 'seen'}`
    $.ajax({ url, method: 'POST', contentType: 'application/json', data: JSON.stringify(asked ?? {}) }).then(answer => {
      list.empty().append((answer[what] ?? []).map((/** @type {string} */ name) => $('<option>').attr('value', name)))
    }, () => {}) // it is a convenience
  })
}

/** @param {JQuery} lines @param {string} label */
function adder (lines, label) {
  const entry = $('<input type="text" class="sluice-offer">').attr('placeholder', label).attr('aria-label', label).insertAfter(lines)
  return entry.on('change', () => {
    const given = String(lines.val()).split('\n').map(line => line.trim()).filter(line => line !== '')
    const chosen = String(entry.val()).trim()
    if (chosen !== '' && !given.includes(chosen)) lines.val([...given, chosen].join('\n'))
    entry.val('')
  })
}
