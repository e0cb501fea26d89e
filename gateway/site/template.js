import { CONTENTS } from './contents.js'
import { relative, sitePath } from './files.js'
import { plain } from './markdown.js'

/**
 * @typedef {object} Page
 * @property {string} path  on the site
 * @property {string} source  in the repository
 * @property {string} html
 * @property {import('./markdown.js').Heading[]} headings
 */

/** @param {Page} page @returns {string} as the browser gets it */
export function template (page) {
  const { path, html, headings } = page
  const asset = (/** @type {string} */ name) => relative(path, name)
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${titleOf(headings)}</title>
  <link rel="icon" href="${asset('icon.svg')}">
  <link rel="stylesheet" href="${asset('site.css')}">
  <script type="module" src="${asset('site.js')}"></script>
</head>
<body>
  <a class="skip" href="#content">To the text</a>
  <header>
    <a href="${asset('index.html')}"><img src="${asset('icon.svg')}" alt="" width="28" height="28"> Sluice</a>
    <input id="search" type="search" placeholder="Search" aria-label="Search all pages" data-index="${asset('search.json')}">
  </header>
  <nav aria-label="Pages">
    <details open>
      <summary>Contents</summary>
${navigation(page)}
    </details>
  </nav>
  <main id="content">
    <section id="found" aria-live="polite" hidden></section>
    <article>
${html}    </article>
  </main>
</body>
</html>
`
}

/** @param {import('./markdown.js').Heading[]} headings */
function titleOf (headings) {
  const title = escape(plain(headings.find(({ depth }) => depth === 1)?.text ?? ''))
  return title === 'Sluice' ? title : `${title} - Sluice`
}

/** All pages, and the sections of the one that is shown; a node's page is one of *Nodes*. @param {Page} page */
function navigation ({ path, source, headings }) {
  const here = source.startsWith('docs/reference/') ? 'docs/nodes.md' : source
  const sections = headings.filter(({ depth }) => depth === 2).map(({ id, text }) => `<a href="#${id}">${escape(plain(text))}</a>`)
  const link = (/** @type {[string, string]} */ [to, label]) => {
    const href = relative(path, sitePath(to))
    return to === here
      ? `<a href="${href}" aria-current="${to === source ? 'page' : 'true'}">${label}</a>${sections.length > 0 ? list(sections) : ''}`
      : `<a href="${href}">${label}</a>`
  }
  return CONTENTS.map(({ title, pages }) => `<h2>${title}</h2>\n${list(Object.entries(pages).map(link))}`).join('\n')
}

/** @param {string[]} items */
function list (items) {
  return `<ul>${items.map(item => `<li>${item}</li>`).join('')}</ul>`
}

/** @param {string} text */
function escape (text) {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
}
