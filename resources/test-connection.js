import { refusedText } from './refused.js'

/**
 * Has the button of a server's form try what the form holds now, deployed or not, and show the result.
 * @param {string} type  of the node
 * @param {JQuery} form
 * @param {() => {id: string, options: object}} read  the node's id, and its options as they stand in the form
 */
export function prepareTest (type, form, read) {
  const row = form.find('.sluice-test')
  const button = row.find('button')
  const result = row.find('.sluice-test-result')
  const text = (/** @type {string} */ key) => RED.nodes.getType(type)._(`${type}.form.${key}`)
  /** @type {JQueryRequest|null} */
  let request = null

  const show = (/** @type {string} */ state, /** @type {string} */ sentence) => {
    request = null
    button.prop('disabled', state === 'trying')
    result.attr('data-state', state).text(sentence)
  }

  button.on('click', () => {
    show('trying', text('testing'))
    const url = `sluice-servers/${type}/test`
    const asked = request = $.ajax({ url, method: 'POST', contentType: 'application/json', data: JSON.stringify(read()) })
    asked.then(({ ok, text: sentence }) => {
      if (asked === request) show(ok ? 'good' : 'bad', sentence)
    }, failed => {
      if (asked === request) show('bad', refusedText(failed, 'test', text))
    })
  })
  form.on('input change', () => { // what was found no longer holds
    request?.abort()
    show('none', '')
  })
}
