import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * What the changelog says of a version: the text beneath its heading.
 * @param {string} changelog  Markdown, a heading `## VERSION` or `## VERSION, date` each
 * @param {string} version
 * @throws {Error} where it has no such heading, or nothing beneath it
 */
export function releaseNotes (changelog, version) {
  const sections = changelog.split(/^## /m).slice(1)
  const found = sections.find(section => section.split(/[\s,]/, 1)[0] === version)
  const text = found?.slice(found.indexOf('\n')).trim()
  if (text) return `${text}\n`
  const headings = sections.map(section => section.split('\n', 1)[0]).join('; ')
  throw new Error(`CHANGELOG.md says nothing of version ${version}: its headings are ${headings}.`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(releaseNotes(readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8'), process.argv[2] ?? ''))
}
