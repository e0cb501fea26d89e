import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { contentTypeOf } from '../base/content-types.js'
import { siteFile } from '../site/site.js'
import { FRAME_HEADERS } from '../web/guard.js'

const require = createRequire(import.meta.url)
const GATEWAY = join(import.meta.dirname, '..')
const uplot = (/** @type {string} */ name) => join(require.resolve('uplot'), '..', name)

/** The pages' files, under the paths they have below `gateway/`, so that their imports hold: nothing else is read from the disk. */
const PARTS = readdirSync(join(GATEWAY, 'live/page'), { recursive: true, encoding: 'utf8' })
  .map(name => `/live/page/${name.replaceAll('\\', '/')}`)
  .filter(path => /\.(css|js|json|svg)$/.test(path))

/** What they have in common with the gateway. */
const SHARED = ['/stats/format.js', '/stats/phrases.js', '/base/decoded.js']

/** What alarms and the doctor say, in each language. */
const TEXTS = ['stats/locales', 'doctor/locales'].flatMap(folder => readdirSync(join(GATEWAY, folder)).map(name => `/${folder}/${name}`))

/** @type {Record<string, string>} */
const FILES = {
  '/': join(GATEWAY, 'live/page/index.html'),
  '/doctor/': join(GATEWAY, 'live/page/doctor.html'),
  ...Object.fromEntries([...SHARED, ...TEXTS, ...PARTS].map(path => [path, join(GATEWAY, path)])),
  '/live/page/uplot.js': uplot('uPlot.esm.js'),
  '/live/page/uplot.css': uplot('uPlot.min.css')
}

/** So that the live page has all its modules at once, not those of one after those of another. */
const PRELOAD = [...SHARED, ...PARTS.filter(path => path.endsWith('.js') && !path.endsWith('doctor.js')), '/live/page/uplot.js']
  .map(path => `<${path.slice(1)}>; rel=modulepreload`).join(', ')

/** Below it is the documentation. */
const DOCUMENTATION = '/docs/'

/** Everything comes from the gateway itself: the page must work on a machine without internet. */
export const HEADERS = {
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy':
    'default-src \'none\'; script-src \'self\'; style-src \'self\'; img-src \'self\'; connect-src \'self\'; ' +
    `base-uri 'none'; form-action 'none'; ${FRAME_HEADERS['Content-Security-Policy']}`
}

/** A drawing has its colours in itself, for light and dark; it may load nothing. */
const DRAWING = { 'Content-Security-Policy': `default-src 'none'; style-src 'unsafe-inline'; ${FRAME_HEADERS['Content-Security-Policy']}` }

/** Null for what is not there. @param {string} path  below the page's root */
export function asset (path) {
  if (path.startsWith(DOCUMENTATION)) return documentation(path.slice(DOCUMENTATION.length))
  if (!Object.hasOwn(FILES, path)) return null
  const file = FILES[path]
  return { body: readFileSync(file), headers: { ...HEADERS, 'Content-Type': contentTypeOf(file), ...path === '/' && { Link: PRELOAD } } }
}

/** @param {string} path  below its root */
function documentation (path) {
  const found = siteFile(path)
  if (!found) return null
  return { body: found.body, headers: { ...HEADERS, ...path.endsWith('.svg') && DRAWING, 'Content-Type': found.type } }
}
