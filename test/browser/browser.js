import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { chromium } from 'playwright-core'
import { findProgram, requireServer } from '../servers/programs.js'

/** For any one thing to appear; less than a test's own limit, so that what is missing is named. */
const PATIENCE_MS = 120_000
const EXECUTABLE = findProgram('chromium') ?? findProgram('chromium-browser')

/** @param {Mocha.Context} context */
export function requireChromium (context) {
  requireServer(context, 'chromium', EXECUTABLE ? null : 'it is not installed (Debian: apt-get install chromium)')
}

/**
 * A headless Chromium with a fresh profile.
 * @param {string[]} [more]  arguments of Chromium
 * @param {{username: string, password: string}} [httpCredentials]  what is entered where a page asks for a login
 * @param {string} [locale]  its language, such as de-DE
 * @returns {Promise<{page: import('playwright-core').Page, close: () => Promise<void>}>}
 */
export async function openBrowser (more = [], httpCredentials, locale = 'en-US') {
  const profile = await mkdtemp(path.join(os.tmpdir(), 'sluice-chromium-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: EXECUTABLE ?? undefined,
    headless: true,
    timeout: PATIENCE_MS,
    viewport: { width: 1280, height: 900 },
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', ...more
    ],
    httpCredentials,
    locale
  })
  context.setDefaultTimeout(PATIENCE_MS)
  return {
    page: context.pages()[0] ?? await context.newPage(),
    async close () {
      await context.close()
      await rm(profile, { recursive: true, maxRetries: 5 })
    }
  }
}

/** Waits until a form has slid in. @param {import('playwright-core').Page} page @param {string} selector  of something in it */
export async function slidIn (page, selector) {
  const element = await page.waitForSelector(selector, { state: 'visible' })
  await page.waitForFunction(each => each.getBoundingClientRect().right <= innerWidth, element)
  await element.waitForElementState('stable')
}

/**
 * Waits until the editor has loaded a flow, and does no more work on it.
 * @param {import('playwright-core').Page} page
 * @param {string} part  of the flow, as `node("in")`
 */
export async function flowLoaded (page, part) {
  await page.waitForFunction(`window.RED?.nodes?.${part} && !RED.nodes.dirty()`)
  await page.waitForSelector('#red-ui-loading-progress', { state: 'hidden' })
}

/**
 * A person has a machine on which the usual ports are free, and where PostgreSQL listens on its own. Here others may have them: so the
 * editor gets the nodes with other defaults, which takes no hand.
 * @param {import('playwright-core').Page} page
 * @param {Record<string, number>} ports  by the usual ones
 */
export async function usePortsOfThisMachine (page, ports) {
  await page.route(/\/nodes(\?|$)/, async route => {
    if (!route.request().headers().accept?.includes('text/html')) return route.continue()
    const response = await route.fetch()
    const body = await response.text()
    await route.fulfill({ response, body: body.replace(/(?<=default: )(1502|1883|5432)\b/g, usual => String(ports[usual])) })
  })
}
