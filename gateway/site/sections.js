import GithubSlugger from 'github-slugger'
import { plain } from './markdown.js'

/** @typedef {{id: string, title: string, text: string}} Section */

/**
 * What a page has to search in, by heading. It only looks at the lines: to parse all pages takes long in a process that has rows to store.
 * @param {string} markdown
 * @returns {Section[]}
 */
export function sectionsOf (markdown) {
  const slugger = new GithubSlugger()
  /** @type {Section[]} */
  const sections = []
  let isCode = false
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const [, heading] = (!isCode && /^#{1,6} (.+)/.exec(line)) || []
    if (heading) sections.push({ id: slugger.slug(heading), title: plain(heading), text: '' })
    else if (sections.length > 0 && line.trim() !== '') sections[sections.length - 1].text += `${plain(line)}\n`
  }
  return sections
}
