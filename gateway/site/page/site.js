/**
 * Finds the sections of all pages that have every word of a search. The index is only loaded by who searches.
 * @typedef {{path: string, page: string, id: string, title: string, text: string}} Section
 */

const MAX_FOUND = 30
const AROUND = 80

const input = /** @type {HTMLInputElement} */ (document.querySelector('#search'))
const found = /** @type {HTMLElement} */ (document.querySelector('#found'))
const article = /** @type {HTMLElement} */ (document.querySelector('article'))
const contents = /** @type {HTMLDetailsElement} */ (document.querySelector('nav details'))
const index = new URL(input.dataset.index ?? '', location.href)
/** @type {Promise<Section[]>|undefined} */
let loaded

if (matchMedia('(max-width: 800px)').matches) contents.open = false
input.addEventListener('input', search)
found.addEventListener('click', ({ target }) => {
  if (target instanceof HTMLAnchorElement) show([], '')
})
document.addEventListener('keydown', event => {
  if (event.key !== '/' || event.target === input) return
  event.preventDefault()
  input.focus()
})

async function search () {
  loaded ??= fetch(index).then(response => response.json())
  const sections = await loaded
  const query = input.value.trim().toLowerCase()
  show(query === '' ? [] : best(sections, query.split(/\s+/)), query)
}

/** Those with the words in their title come first. @param {Section[]} sections @param {string[]} words */
function best (sections, words) {
  const has = (/** @type {string} */ text) => words.every(word => text.toLowerCase().includes(word))
  const all = sections.filter(({ page, title, text }) => has(`${page} ${title} ${text}`))
  return [...all.filter(({ title }) => has(title)), ...all.filter(({ title }) => !has(title))]
}

/** @param {Section[]} sections @param {string} query  empty: none */
function show (sections, query) {
  found.hidden = query === ''
  article.hidden = !found.hidden
  if (query === '') input.value = ''
  const count = document.createElement('p')
  count.textContent = sections.length === 0 ? 'Nothing has all these words.' : `Found: ${sections.length}`
  found.replaceChildren(count, ...sections.slice(0, MAX_FOUND).map(section => result(section, query.split(/\s+/)[0])))
}

/** @param {Section} section @param {string} word */
function result ({ path, page, id, title, text }, word) {
  const link = document.createElement('a')
  link.href = new URL(`${path}#${id}`, index).href
  link.textContent = title === page ? page : `${page}: ${title}`
  const place = Math.max(0, text.toLowerCase().indexOf(word) - AROUND)
  const excerpt = document.createElement('span')
  excerpt.textContent = text.slice(place, place + 2 * AROUND)
  const paragraph = document.createElement('p')
  paragraph.append(link, document.createElement('br'), excerpt)
  return paragraph
}
