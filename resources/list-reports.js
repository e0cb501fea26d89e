import { refusedText } from './refused.js'

/**
 * Lists the reports of a node, the newest first, each a link to its page.
 * @param {JQuery} row  of the form
 * @param {string} id  of the node
 * @param {(key: string) => string} text  of the form's catalogue
 */
export function listReports (row, id, text) {
  const list = row.find('.sluice-reports-list')
  const load = () => {
    $.ajax({ url: `sluice-bench/${id}/reports`, method: 'POST', contentType: 'application/json', data: '{}' }).then(({ reports }) => {
      if (reports.length === 0) return list.text(text('reportsNone'))
      list.empty().append($('<ul>').append(...reports.map(item)))
    }, failed => { list.text(refusedText(failed, 'reports', text)) })
  }
  row.find('button').on('click', load)
  load()
}

/** @param {{name: string, link: string|null}} report */
function item ({ name, link }) {
  const shown = link ? $('<a>').attr('href', link).attr('target', '_blank').attr('rel', 'noopener') : $('<span>')
  return $('<li>').append(shown.text(name))
}
