import { refusedText } from './refused.js'

const ORDERS = ['ABCD', 'CDAB', 'BADC', 'DCBA']
const PERIOD_MS = 1000

/** What is read unless more is asked for: enough for all types but long strings. */
const USUAL_REGISTERS = 4

/** @typedef {Record<string, string> & {type: string}} Reading  a register's value as one type, by order */

/**
 * Shows what a row's register holds now, as every type in every order, until it is closed; a click on a value puts its type and order into
 * the row.
 * @param {HTMLElement} element  where it is shown
 * @param {import('./table.js').ActionRow} row
 * @param {() => Record<string, any>} place  the rest of the form: its `device` as the editor has it, and `addressing`
 * @param {(key: string, values?: object) => string} text  of the form's catalogue
 */
export function tryRegisters (element, row, place, text) {
  const title = $('<b>')
  const close = $('<button type="button" class="red-ui-button red-ui-button-small">').text(text('tryClose'))
  const result = $('<div class="sluice-try-result" role="status">').text(text('tryWaiting'))
  const panel = $('<section class="sluice-try">').append($('<header>').append(title, close), result)
  $(element).empty().append(panel)
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let timer
  /** @type {JQueryRequest|undefined} */
  let request

  const isOpen = () => panel[0].isConnected && row.isThere()
  const stop = () => {
    clearTimeout(timer)
    request?.abort()
    panel.remove()
  }
  close.on('click', stop)

  function ask () {
    if (!isOpen()) return stop()
    const { value: { name = '', area, address, type, length } = {}, problems } = row.read()
    const problem = problems.find(({ column }) => column === 'area' || column === 'address')?.problem
    title.text([name, `${row.shown('area')} ${address ?? ''}`].filter(Boolean).join(': '))
    if (problem) return show(sentence(problem))
    const { device, addressing } = place()
    if (!device) return show(sentence(text('tryNoDevice')))
    const count = type === 'string' && length > 2 * USUAL_REGISTERS ? Math.ceil(length / 2) : undefined
    const data = JSON.stringify({ device, addressing, area, address, count })
    request = $.ajax({ url: 'sluice-modbus/try', method: 'POST', contentType: 'application/json', data })
    request.then(answer => show(answer.ok ? found(answer) : sentence(answer.text)), failed => {
      if (failed.statusText !== 'abort') show(sentence(refusedText(failed, 'try', text)))
    })
  }

  /** A button that is being pressed stays while its value changes. @param {JQuery|JQuery[]} content */
  function show (content) {
    if (!isOpen()) return stop()
    const isFirst = result.children().length === 0
    if (!result.is(':has(button:active)')) result.empty().append(content)
    if (isFirst) panel[0].scrollIntoView({ block: 'nearest' })
    timer = setTimeout(ask, PERIOD_MS)
  }

  /** @param {{registers?: number[], bits?: number[], values?: Reading[]}} answer */
  function found ({ registers = [], bits = [], values = [] }) {
    const raw = $('<p class="sluice-try-raw">').text([...registers, ...bits].join(' '))
    if (values.length === 0) return raw
    const orders = ORDERS.filter(order => values.some(value => value[order] !== undefined))
    const head = $('<tr>').append($('<th>').text(text('tryType')), orders.map(order => $('<th>').text(order)))
    const lines = values.map(value =>
      $('<tr>').append($('<th scope="row">').text(value.type), orders.map(order => $('<td>').append(choice(value, order)))))
    return [raw, $('<table>').append($('<thead>').append(head), $('<tbody>').append(lines)), $('<p>').text(text('tryHint'))]
  }

  /** @param {Reading} value @param {string} order */
  function choice (value, order) {
    if (value[order] === undefined || value[order] === null) return ''
    const { type: chosenType, order: chosenOrder } = row.read().value ?? {}
    return $('<button type="button">').text(shortened(value[order], value.type))
      .toggleClass('sluice-chosen', value.type === chosenType && order === chosenOrder)
      .on('click', () => row.write({ type: value.type, order }))
  }

  ask()
}

/** A float32 has seven digits: more, as of the double it became, mean nothing. @param {string} value @param {string} type */
function shortened (value, type) {
  return type === 'float32' && Number.isFinite(Number(value)) ? String(Number(Number(value).toPrecision(7))) : value
}

/** @param {string} text */
function sentence (text) {
  return $('<p class="sluice-problem">').text(text)
}
