import { decodeText, formatCsv, parseCsv } from './csv.js'
import { entriesOf } from './records.js'

/** Longer than a browser takes to begin a download. */
const DOWNLOAD_MS = 60_000

/**
 * Brings whole blocks of cells into a table, from a CSV file or from a spreadsheet by paste, and out of it as a CSV file.
 * @param {import('./table.js').Table} table
 * @param {HTMLElement} element  the table's
 * @param {object} options
 * @param {Record<string, import('./options.js').Property>} options.properties  the columns
 * @param {number} options.maxRows
 * @param {(key: string, values?: object) => string} options.text
 * @param {string} options.fileName
 */
export function addTransfer (table, element, { properties, maxRows, text, fileName }) {
  const scroll = /** @type {HTMLElement} */ (element.querySelector('.sluice-table-scroll'))
  const notice = Object.assign(document.createElement('div'), { className: 'sluice-table-notice' })
  notice.setAttribute('role', 'status')
  const file = Object.assign(document.createElement('input'), { type: 'file', accept: '.csv,.tsv,.txt,text/csv' })
  const bar = /** @type {HTMLElement} */ (element.querySelector('.sluice-table-bar'))
  bar.append(button(text('importCsv'), () => file.click()), button(text('exportCsv'), save))
  element.append(notice)
  element.addEventListener('input', () => notice.replaceChildren())

  const say = (/** @type {(string|Node)[]} */ ...parts) => {
    notice.replaceChildren(...parts)
    notice.scrollIntoView({ block: 'nearest' })
  }

  /** @param {number} start @param {ReturnType<typeof entriesOf>} given @param {(entries: object[]) => void} [put] */
  function take (start, { entries, unknown }, put = kept => table.write(start, kept)) {
    const kept = entries.slice(0, Math.max(0, maxRows - start))
    put(kept)
    const parts = [text(kept.length === 1 ? 'row' : 'rows', { n: kept.length })]
    const names = unknown.join(', ')
    if (unknown.length > 0) parts.push(text(unknown.length === 1 ? 'unknownColumn' : 'unknownColumns', { n: unknown.length, names }))
    if (kept.length < entries.length) parts.push(text('tooManyRows', { n: entries.length - kept.length }))
    say(`${parts.join(', ')}.`)
  }

  file.addEventListener('change', async () => {
    const [chosen] = file.files ?? []
    if (!chosen) return
    try {
      const given = entriesOf(parseCsv(decodeText(new Uint8Array(await chosen.arrayBuffer()))), properties)
      const rows = table.entries.length
      if (rows === 0) take(0, given)
      else {
        say(text('importHow', { file: chosen.name, n: given.entries.length, rows }),
          button(text('replaceRows'), () => take(0, given, kept => table.fill(kept))),
          button(text('appendRows'), () => take(table.entries.length, given)),
          button(text('cancelImport'), () => say()))
      }
    } catch (error) {
      say(`${chosen.name}: ${messageOf(error)}`)
    }
    file.value = ''
  })

  scroll.addEventListener('paste', event => {
    const pasted = event.clipboardData?.getData('text/plain') ?? ''
    if (!/\t|[\r\n]\s*\S/.test(pasted)) return // one cell
    event.preventDefault()
    const { row, column } = table.place
    try {
      take(row, entriesOf(parseCsv(pasted), properties, column))
      table.goTo(row, column)
    } catch (error) {
      say(messageOf(error))
    }
  })

  function save () {
    const names = Object.keys(properties)
    const csv = formatCsv([names, ...table.entries.map(entry => names.map(name => cellOf(entry[name])))])
    // Without the mark, Excel mistakes UTF-8 for another encoding.
    const url = URL.createObjectURL(new Blob(['\uFEFF', csv], { type: 'text/csv' }))
    Object.assign(document.createElement('a'), { href: url, download: `${fileName}.csv` }).click()
    setTimeout(() => URL.revokeObjectURL(url), DOWNLOAD_MS)
  }
}

/** A list is lines. @param {unknown} value */
function cellOf (value) {
  return Array.isArray(value) ? value.join('\n') : value
}

/** @param {unknown} error */
function messageOf (error) {
  return error instanceof Error ? error.message : String(error)
}

/** @param {string} text @param {() => void} press */
function button (text, press) {
  const element = Object.assign(document.createElement('button'), { type: 'button', className: 'red-ui-button', textContent: text })
  element.addEventListener('click', press)
  return element
}
