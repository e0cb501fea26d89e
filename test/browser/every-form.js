import { faces } from '../../tools/nodes.js'
import { slidIn } from './browser.js'

/** A flow with a node of every type, whose id is its type. It does nothing: there is nothing it could reach. */
export const FLOW_OF_EVERY_NODE = [
  { id: 'flow', type: 'tab', label: 'flow', disabled: true },
  ...faces.map(({ type, isConfig }, i) => ({ id: type, type, ...isConfig ? {} : { z: 'flow', x: 160, y: 60 * i, wires: [] } }))
]

/** Opens the form of the node of a type, all options unfolded. @param {import('playwright-core').Page} page @param {string} type */
export async function openForm (page, type) {
  const isConfig = faces.some(face => face.type === type && face.isConfig)
  await page.evaluate(isConfig ? `RED.editor.editConfig('', '${type}', '${type}')` : `RED.editor.edit(RED.nodes.node('${type}'))`)
  await slidIn(page, '.red-ui-editor .sluice-row')
  await page.$$eval('.sluice-advanced', elements => elements.forEach(element => element.setAttribute('open', '')))
}

/** Closes what is open, also where the test that opened it has failed. @param {import('playwright-core').Page} page */
export async function closeForms (page) {
  for (const button of await page.$$('#node-dialog-cancel, #node-config-dialog-cancel')) {
    await button.evaluate(element => /** @type {HTMLElement} */ (element).click())
  }
  await page.waitForSelector('.sluice-row', { state: 'detached' })
}
