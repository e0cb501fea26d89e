import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Of WCAG 2.2 at level AA. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** All that another theme may break. */
const COLOURS = ['color-contrast', 'link-in-text-block']

/**
 * @typedef {object} Look
 * @property {string[]} [include]  selectors: what is looked at, if not the whole page
 * @property {string[]} [exclude]  and what in it is not
 * @property {boolean} [coloursOnly]  where the page was looked at in another theme
 */

/**
 * What axe finds that keeps somebody from using a page: its serious and critical faults, each with where it is and why it is one.
 * @param {import('playwright-core').Page} page
 * @param {Look} [look]
 * @returns {Promise<string[]>}
 */
export async function seriousFaults (page, { include = ['html'], exclude, coloursOnly = false } = {}) {
  if (!await page.evaluate('"axe" in globalThis')) await page.evaluate(axe)
  return page.evaluate(async ({ context, runOnly }) => {
    // @ts-expect-error axe is there since the line above
    const { violations } = await globalThis.axe.run(context, { runOnly, resultTypes: ['violations'] })
    const serious = violations.filter((/** @type {any} */ { impact }) => impact === 'serious' || impact === 'critical')
    return serious.flatMap((/** @type {any} */ { id, impact, nodes }) =>
      nodes.map((/** @type {any} */ { html, failureSummary }) => `${impact} ${id}: ${html} ${failureSummary}`))
  }, {
    context: exclude ? { include, exclude } : { include },
    runOnly: coloursOnly ? { type: 'rule', values: COLOURS } : { type: 'tag', values: TAGS }
  })
}
