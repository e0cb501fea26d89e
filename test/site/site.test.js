import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect } from 'chai'
import { paths, siteFile } from '../../gateway/site/site.js'
import { sourceOf } from '../../gateway/site/files.js'
import { run } from '../../tools/run.js'

const ROOT = join(import.meta.dirname, '../..')
const REPOSITORY = 'https://github.com/sluice/sluice/blob/main/'

/** What a page loads, and what it links to. */
const LOADED = /<(?:img|script|link|source|iframe|video|audio)\b[^>]*?\b(?:src|href|srcset)="([^"]*)"/g
const LINKED = /<a\b[^>]*?\bhref="([^"]*)"/g

describe('Documentation site', () => {
  const pages = paths().filter(path => path.endsWith('.html'))
  const textOf = (/** @type {string} */ path) => String(siteFile(path)?.body)
  /** @param {string} text @param {RegExp} pattern */
  const all = (text, pattern) => [...text.matchAll(pattern)].map(([, found]) => found.replaceAll('&amp;', '&'))
  const ids = new Map(pages.map(path => [path, all(textOf(path), / id="([^"]*)"/g)]))

  it('has everything in docs/ that is not the result of a study', () => {
    const sources = paths().map(sourceOf)
    expect(sources).to.include.members(globSync('docs/{,reference/,examples/}*.{md,png,svg}', { cwd: ROOT }))
  })

  it('begins with the tutorial', () => {
    expect(siteFile('')?.body).to.equal(textOf('index.html'))
    expect(textOf('index.html')).to.include('id="five-minutes"')
  })

  it('says of a page what it is about, once, and of no two the same', () => {
    const titles = pages.map(path => {
      const text = textOf(path)
      expect(all(text, /<h1[ >](.)/g), path).to.have.length(1)
      const [title] = all(text, /<title>(.+?)<\/title>/g)
      expect(title, path).to.match(/Sluice$/).and.not.match(/^ ?-/)
      return title
    })
    expect(new Set(titles)).to.have.property('size', pages.length)
  })

  it('has each id once in a page', () => {
    for (const [path, found] of ids) expect(new Set(found), path).to.have.property('size', found.length)
  })

  it('loads only what it has itself: pages work without internet', () => {
    for (const path of pages) {
      for (const loaded of all(textOf(path), LOADED)) expect(paths(), `${loaded} in ${path}`).to.include(target(path, loaded).path)
      expect(textOf(path), path).not.to.match(/ style=|<style|<script(?! type="module" src=)/)
    }
    for (const path of paths().filter(name => /\.(css|js|svg)$/.test(name))) {
      expect(textOf(path).replace('http://www.w3.org/2000/svg', ''), path).not.to.match(/https?:|@import|url\((?!#)/)
    }
  })

  it('links to pages, headings and files that there are', () => {
    for (const path of pages) {
      for (const link of all(textOf(path), LINKED)) {
        if (link.startsWith(REPOSITORY)) {
          expect(existsSync(join(ROOT, link.slice(REPOSITORY.length).replace(/#.*/, ''))), `${link} in ${path}`).to.equal(true)
        } else if (!/^https?:/.test(link)) {
          const { path: to, anchor } = target(path, link)
          expect(paths(), `${link} in ${path}`).to.include(to)
          if (anchor) expect(ids.get(to), `${link} in ${path}`).to.include(anchor)
        }
      }
    }
  })

  it('describes every picture', () => {
    for (const path of pages) {
      const [article] = all(textOf(path), /<article>([^]*)<\/article>/g)
      expect(article, path).not.to.match(/<img (?![^>]*alt="[^"]+")/)
    }
  })

  it('finds the sections that the pages have', () => {
    /** @type {import('../../gateway/site/sections.js').Section & {path: string, page: string}} */
    let section
    const found = JSON.parse(textOf('search.json'))
    for (section of found) expect(ids.get(section.path), `${section.title} in ${section.path}`).to.include(section.id)
    for (const path of pages) {
      const headings = all(textOf(path), /<h[1-6] id="([^"]*)"/g)
      expect(found.filter((/** @type {{path: string}} */ each) => each.path === path), path).to.have.length(headings.length)
    }
  })

  it('gives nothing else of the disk', () => {
    for (const path of ['../package.json', 'package.json', 'studies.md', 'reference', 'reference/', '__proto__', 'constructor']) {
      expect(siteFile(path), path).to.equal(null)
    }
  })

  it('is in the package', () => {
    const [{ files }] = JSON.parse(run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT }))
    const packed = files.map((/** @type {{path: string}} */ { path }) => path)
    expect(packed).to.include.members(paths().map(sourceOf).filter(source => source !== undefined))
  })

  it('is current: the table of options has each option of a node, with unit and limits', () => {
    const text = readFileSync(join(ROOT, 'docs/reference/sqlite.md'), 'utf8')
    expect(text).to.match(/\*\*Batch size\*\* \| .* \| 1 … 1,000,000 rows \| 5,000 \|/)
  })
})

/** Where a link of a page leads. @param {string} from @param {string} link */
function target (from, link) {
  const [to, anchor] = link.split('#')
  return { path: to ? posix.join(posix.dirname(from), to) : from, anchor }
}
