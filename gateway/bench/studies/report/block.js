import { bars } from './chart/bars.js'
import { boxes } from './chart/boxes.js'
import { WIDTHS } from './chart/frame.js'
import { lines } from './chart/lines.js'
import { legend } from './legend.js'
import { html } from './markup.js'
import { printed } from './print.js'
import { Reasons } from './reasons.js'
import { hasPublished, table } from './table.js'
import { tabulate } from './tabulate.js'

/** @typedef {import('../study.js').Block} Block */

/** A table or chart with its caption, what its marks mean, why figures are missing, and its notes. @param {Block} block */
export function blockMarkup (block) {
  const reasons = new Reasons()
  const { isSmall, parts } = block.kind === 'table' ? printed(block) : { isSmall: false, parts: [] }
  const content = block.kind === 'table' ? [table(block, reasons), parts.map(part => table(part, reasons))] : chart(block, reasons)
  const why = reasons.list().map(({ letter, text }) => html`<p class="note"><sup>${letter}</sup> ${text}</p>`)
  const notes = block.notes?.map(note => html`<p class="note">${note}</p>`)
  return html`<figure class="${block.kind}${isSmall && ' small'}${parts.length > 0 && ' parted'}"><figcaption>${block.caption}</figcaption>
${block.kind === 'table' ? hasPublished(block) && TABLE_KEY : legend(block)}
${content}${why}${notes}${block.kind !== 'table' && numbers(block)}</figure>
`
}

const TABLE_KEY = html`<p class="key">Beneath each figure the paper’s; × how many times it ours is</p>`

/** @param {Exclude<Block, {kind: 'table'}>} block @param {Reasons} reasons */
function chart (block, reasons) {
  const noteOf = (/** @type {string|undefined} */ reason) => reasons.note(reason)
  return [WIDTHS.wide, WIDTHS.narrow].map(width => {
    if (block.kind === 'bars') return bars(block, width, noteOf)
    return block.kind === 'boxes' ? boxes(block, width) : lines(block, width)
  })
}

/** @param {Exclude<Block, {kind: 'table'}>} block */
function numbers (block) {
  return html`<details><summary>Figures as a table</summary>${table({ ...tabulate(block), notes: [] }, new Reasons())}</details>`
}
