/** @typedef {Node|string|null|false|undefined} Child */

/** @param {string} id @returns {HTMLElement} */
export function byId (id) { return /** @type {HTMLElement} */ (document.getElementById(id)) }

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element (tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) if (value !== '') made.setAttribute(name, value)
  made.append(...shown(children))
  return made
}

/**
 * Of a drawing.
 * @param {string} tag
 * @param {Record<string, string|number>} [attributes]
 * @param {...Child} children
 */
export function drawn (tag, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value))
  made.append(...shown(children))
  return made
}

/** @param {string} label @param {() => void} act @param {string} [className] */
export function button (label, act, className = '') {
  const made = element('button', { type: 'button', class: className }, label)
  made.addEventListener('click', act)
  return made
}

/** Touches what it shows only where that is another text: a screen reader, or a selection, is not disturbed. */
export function say (/** @type {Element} */ at, /** @type {string} */ words) {
  if (at.textContent !== words) at.textContent = words
}

/** @param {Child[]} children */
function shown (children) {
  return children.flatMap(each => each === null || each === false || each === undefined || each === '' ? [] : [each])
}
