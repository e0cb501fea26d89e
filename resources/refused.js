/**
 * What a form says of a request that failed: the gateway's own words where it refuses the page, otherwise those of the form's catalogue.
 * @param {{status: number, responseText?: string}} request
 * @param {'test'|'dbc'|'try'|'listen'|'press'|'reports'} what  was asked
 * @param {(key: string) => string} text  of the form's catalogue
 */
export function refusedText ({ status, responseText = '' }, what, text) {
  if (responseText.startsWith('SLUICE_')) return responseText
  return text(`${what}${[401, 403].includes(status) ? 'Forbidden' : 'Unanswered'}`)
}
