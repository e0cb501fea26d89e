/* global $ */

/**
 * Lists of objects: an entry is a row of labelled fields.
 * @param {any} list  a jQuery element
 * @param {import('./options.js').Property} property
 * @param {object[]} entries
 * @param {() => void} changed  called when an entry comes or goes
 */
export function fillTable (list, { items }, entries, changed) {
  list.editableList({
    sortable: true,
    removable: true,
    addItem (container, _index, entry) {
      container.addClass('sluice-entry').append(Object.entries(items.properties).map(([name, property]) => cell(name, property, entry[name])))
      changed()
    },
    removeItem: changed
  })
  list.editableList('addItems', entries)
}

function cell (name, property, value = property.default ?? '') {
  const field = property.enum
    ? $('<select>').append(property.enum.map(choice => $('<option>').val(choice).text(choice)))
    : $('<input type="text">').attr('placeholder', property.default)
  const unit = property['x-unit'] ? ` (${property['x-unit']})` : ''
  return $('<label>').attr('title', property.description).text(property.title + unit).append(field.attr('data-name', name).val(value))
}

/** The entries as they stand in the list, empty fields left out. */
export function readTable (list) {
  return list.editableList('items').get().map(element => Object.fromEntries(
    $(element).find('[data-name]').get().map(field => [field.dataset.name, field.value]).filter(([, value]) => value !== '')
  ))
}
