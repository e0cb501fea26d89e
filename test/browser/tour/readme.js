import { readFileSync } from 'node:fs'
import { lexer } from 'marked'

/**
 * What a section of the README says, piece by piece: sentences in plain words, commands as they are written, and what they print.
 * @typedef {object} Piece
 * @property {'sentence'|'commands'|'output'} kind
 * @property {string} text
 * @property {string} title  of commands and of output, their first line
 */

/** @param {string} heading @returns {Piece[]} */
export function sectionOf (heading) {
  const tokens = lexer(readFileSync(new URL('../../../README.md', import.meta.url), 'utf8'))
  const start = tokens.findIndex(token => token.type === 'heading' && token.text === heading)
  if (start < 0) throw new Error(`The README has no section "${heading}".`)
  const rest = tokens.slice(start + 1)
  const end = rest.findIndex(({ type }) => type === 'heading')
  return rest.slice(0, end < 0 ? undefined : end).flatMap(piecesOf)
}

/** @param {any} token @returns {Piece[]} */
function piecesOf ({ type, text, lang }) {
  if (type === 'code') return [{ kind: lang === 'sh' ? 'commands' : 'output', text, title: text.split('\n', 1)[0] }]
  if (type === 'paragraph') return sentences(plain(text)).map(sentence => ({ kind: 'sentence', text: sentence, title: sentence }))
  if (type === 'space') return []
  throw new Error(`The README has a ${type} where the test of its tour knows only paragraphs and code.`)
}

/** Without pictures, targets of links, emphasis, and titles such as "**1. Look.**". @param {string} markdown */
function plain (markdown) {
  return markdown
    .replace(/\*\*\d+\. [^*]*\.\*\*/g, '')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*\d+\. |\*/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** What stands before a colon is one for itself. @param {string} text */
function sentences (text) {
  return text.split(/(?<=[.:]\)?) /).filter(sentence => sentence !== '')
}
