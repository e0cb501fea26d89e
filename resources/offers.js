/**
 * Has a field offer what the gateway has heard of, asked anew whenever it is entered. Anything else may be typed, too.
 * @param {JQuery} field
 * @param {'sources'|'gateways'} what
 */
export function offer (field, what) {
  const id = `${field.attr('id')}-offers`
  const list = $('<datalist>').attr('id', id).insertAfter(field)
  field.attr('list', id).on('focus', () => {
    $.ajax({ url: 'sluice-staging/seen', method: 'POST', contentType: 'application/json', data: '{}' }).then(answer => {
      list.empty().append(answer[what].map((/** @type {string} */ name) => $('<option>').attr('value', name)))
    }, () => {}) // it is a convenience
  })
}
