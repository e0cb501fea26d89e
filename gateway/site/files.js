import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { CONTENTS } from './contents.js'

/** Of the package. */
const ROOT = join(import.meta.dirname, '../..')
/** A page for each node, which `docs/nodes.md` links to. */
const REFERENCE = 'docs/reference'
const IMAGE = /\.(png|svg)$/

/** What the site consists of: the paths in the repository, by those on the site. */
const files = new Map(Object.entries({
  ...bySitePath([
    ...CONTENTS.flatMap(({ pages }) => Object.keys(pages)),
    ...named(REFERENCE, /\.md$/),
    ...['docs', 'docs/examples'].flatMap(folder => named(folder, IMAGE))
  ]),
  'icon.svg': 'gateway/live/page/icon.svg',
  'site.css': 'gateway/site/page/site.css',
  'site.js': 'gateway/site/page/site.js'
}))

/** All of the site's paths. @returns {string[]} */
export const sitePaths = () => [...files.keys()]

/** @param {string} path  on the site @returns {string|undefined} that in the repository */
export const sourceOf = path => files.get(path)

/** @param {string} path  in the repository */
export const read = path => readFileSync(join(ROOT, path))

/** @type {{homepage: string}} */
const { homepage } = JSON.parse(read('package.json').toString())

/**
 * Where a link leads on the site; to the repository where the site has no such page.
 * @param {string} from  the path in the repository of the page that has it
 * @param {string} href  as it is there
 */
export function linkFrom (from, href) {
  if (/^([a-z]+:|#)/i.test(href)) return href
  const [link, anchor] = href.split('#')
  const path = posix.join(posix.dirname(from), link)
  const to = sitePath(path)
  const place = files.get(to) === path ? relative(sitePath(from), to) : homepage.replace(/#.*/, `/blob/main/${path}`)
  return anchor ? `${place}#${anchor}` : place
}

/** @param {string} from @param {string} to  both on the site */
export function relative (from, to) {
  return posix.relative(posix.dirname(from), to)
}

/** @param {string} path  in the repository */
export function sitePath (path) {
  return path === 'README.md' ? 'index.html' : path.replace(/^docs\//, '').replace(/\.md$/, '.html')
}

/** @param {string[]} paths  in the repository @returns {Record<string, string>} */
function bySitePath (paths) {
  return Object.fromEntries(paths.map(path => [sitePath(path), path]))
}

/** @param {string} folder @param {RegExp} pattern */
function named (folder, pattern) {
  return readdirSync(join(ROOT, folder)).filter(name => pattern.test(name)).map(name => `${folder}/${name}`)
}
