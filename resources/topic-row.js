/**
 * @typedef {object} Row  what a message becomes
 * @property {string} topic
 * @property {number} mapping  the index of the one that decides; -1: none
 * @property {boolean} [isSparkplug]  it cannot be tried alone
 * @property {string} [source]
 * @property {string} [time]
 * @property {[name: string, value: string][]} [tags]
 * @property {[name: string, type: string, value: string][]} [fields]
 * @property {number} [more]  rows
 * @property {string[]} refused  why, a sentence each
 */

/**
 * The row that a message becomes, and what of it is refused.
 * @param {Row} row
 * @param {(key: string, values?: object) => string} text  of the form's catalogue
 */
export function rowOf ({ topic, mapping, isSparkplug, source, time, tags = [], fields = [], more = 0, refused }, text) {
  const lines = [
    ...source === undefined ? [] : [[text('rowSource'), source, '']],
    ...time === undefined ? [] : [[text('rowTime'), time, '']],
    ...tags.map(([name, value]) => [name, value, text('rowTag')]),
    ...fields.map(([name, type, value]) => [name, value, type])
  ]
  const head = $('<p>').append($('<b>').text(topic), ` – ${mapping === -1 ? text('noMapping') : text('byMapping', { n: mapping + 1 })}`)
  const table = $('<table>').append($('<tbody>').append(lines.map(([name, value, kind]) =>
    $('<tr>').append($('<th scope="row">').text(name), $('<td>').text(value), $('<td class="sluice-topics-kind">').text(kind)))))
  return [
    head,
    ...lines.length > 0 ? [table] : [],
    ...isSparkplug ? [$('<p>').text(text('sparkplugRow'))] : [],
    ...more > 0 ? [$('<p>').text(text(more === 1 ? 'moreRow' : 'moreRows', { n: more }))] : [],
    ...refused.map(reason => $('<p class="sluice-problem">').text(text('refusedValue', { reason })))
  ]
}
