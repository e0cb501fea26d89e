import { readFileSync } from 'node:fs'

/**
 * The SQL of a page of the documentation: its first block with such a text.
 * @param {string} page
 * @param {RegExp} text
 */
export function docsSql (page, text) {
  const markdown = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
  const blocks = [...markdown.matchAll(/^```sql\n([^]*?)^```/gm)].map(([, sql]) => sql)
  return /** @type {string} */ (blocks.find(sql => text.test(sql)))
}
