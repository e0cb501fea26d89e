import { extname } from 'node:path'

/** @type {Record<string, string>} */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png'
}

/** What a browser is told of a file that the gateway serves, by its extension. @param {string} path */
export const contentTypeOf = path => TYPES[extname(path)]
