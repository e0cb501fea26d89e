import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Of WCAG 2.2 at level AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * What axe finds that keeps somebody from using a page: its serious and critical faults, each with where it is and why it is one.
 * @param {import('playwright-core').Page} page
 * @param {{include?: string[], exclude?: string[]}} [parts]  selectors: what is looked at, if not the whole page, and what in it is not
 * @returns {Promise<string[]>}
 */
export async function seriousFaults (page, parts = {}) {
  if (!await page.evaluate('"axe" in globalThis')) await page.evaluate(axe)
  return page.evaluate(async ({ context, values }) => {
    // @ts-expect-error axe is there since the line above
    const { violations } = await globalThis.axe.run(context, { runOnly: { type: 'tag', values }, resultTypes: ['violations'] })
    const serious = violations.filter((/** @type {any} */ { impact }) => impact === 'serious' || impact === 'critical')
    return serious.flatMap((/** @type {any} */ { id, impact, nodes }) =>
      nodes.map((/** @type {any} */ { html, failureSummary }) => `${impact} ${id}: ${html} ${failureSummary}`))
  }, { context: { include: ['html'], ...parts }, values: RULES })
}
