import { contentTypeOf } from '../base/content-types.js'
import { read, sitePaths, sourceOf } from './files.js'
import { toHtml } from './markdown.js'
import { sectionsOf } from './sections.js'
import { template } from './template.js'

/** What the pages search in. */
const INDEX = 'search.json'

/** Pages are made when somebody reads them, and kept. @type {Map<string, string>} */
const made = new Map()

/** All paths of the site, which are relative to each other wherever it is served. */
export const paths = () => [...sitePaths(), INDEX]

/**
 * A file of the documentation site; null for what is not there.
 * @param {string} path  below the site's root
 * @returns {{type: string, body: string|Buffer}|null}
 */
export function siteFile (path) {
  const name = path || 'index.html'
  const source = sourceOf(name)
  const type = contentTypeOf(name)
  if (name === INDEX || source?.endsWith('.md')) return { type, body: kept(name, () => source ? page(name, source) : index()) }
  return source ? { type, body: read(source) } : null
}

/** @param {string} name @param {() => string} make */
function kept (name, make) {
  const text = made.get(name) ?? make()
  made.set(name, text)
  return text
}

/** @param {string} path  on the site @param {string} source  in the repository */
function page (path, source) {
  return template({ path, source, ...toHtml(read(source).toString(), source) })
}

/** The sections of all pages. */
function index () {
  return JSON.stringify(sitePaths().flatMap(path => {
    const source = sourceOf(path)
    if (!source?.endsWith('.md')) return []
    const sections = sectionsOf(read(source).toString())
    return sections.map(section => ({ ...section, path, page: sections[0].title }))
  }))
}
