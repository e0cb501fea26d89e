import { slidIn } from './browser.js'

/**
 * Builds a flow in the editor as a person does, with mouse and keyboard alone, and counts what that takes. An **action** is a click or
 * double click, a drag, or a field that is typed into. A **decision** is a value that the person has to know or to choose: it is not
 * there already, and without the right one the flow would not run. Looking, scrolling and moving the mouse are not counted.
 */
export class Hands {
  actions = 0
  decisions = 0
  #page

  /** @param {import('playwright-core').Page} page */
  constructor (page) {
    this.#page = page
  }

  /**
   * Drags a node from the palette.
   * @param {string} type @param {number} x  in the flow @param {number} y
   * @returns {Promise<string>} its id
   */
  async drop (type, x, y) {
    this.actions++
    const source = this.#page.locator(`.red-ui-palette-node[data-palette-type="${type}"]`)
    await source.scrollIntoViewIfNeeded()
    const before = await this.#ids(type)
    const chart = await boxOf(this.#page.locator('#red-ui-workspace-chart'))
    await this.#drag(middleOf(await boxOf(source)), { x: chart.x + x, y: chart.y + y })
    const added = await this.#page.waitForFunction(
      `RED.nodes.filterNodes({ type: "${type}" }).find(({ id }) => !${JSON.stringify(before)}.includes(id))?.id`
    )
    return /** @type {any} */ (added.jsonValue())
  }

  /** Drags a wire from one node's output to another's input. @param {string} from @param {string} to */
  async wire (from, to) {
    this.actions++
    const output = middleOf(await boxOf(this.#page.locator(`[id="${from}"] .red-ui-flow-port-output .red-ui-flow-port`)))
    const input = middleOf(await boxOf(this.#page.locator(`[id="${to}"] .red-ui-flow-port-input .red-ui-flow-port`)))
    await this.#drag(output, input)
    await this.#page.waitForFunction(
      `RED.nodes.filterLinks({}).some(({ source, target }) => source.id === "${from}" && target.id === "${to}")`
    )
  }

  /** Opens a node's form by a double click. @param {string} id */
  async open (id) {
    this.actions++
    const { x, y } = middleOf(await boxOf(this.#page.locator(`[id="${id}"] .red-ui-flow-node`)))
    await this.#page.mouse.dblclick(x, y)
    await slidIn(this.#page, '.red-ui-editor .sluice-row')
  }

  /** @param {string} selector */
  async click (selector) {
    this.actions++
    await this.#page.click(selector)
  }

  /** A value that has to be known or chosen. @param {string} selector @param {string} text */
  async decide (selector, text) {
    this.actions++
    this.decisions++
    await this.#page.fill(selector, text)
  }

  /** Closes the form on top by its main button, in the end. @param {string} button @param {string} remaining  that is then seen */
  async confirm (button, remaining) {
    await this.click(button)
    await this.#page.waitForSelector(button, { state: 'detached' })
    await this.#page.waitForSelector(remaining)
  }

  async deploy () {
    await this.click('#red-ui-header-button-deploy')
    await this.#page.waitForFunction('!RED.nodes.dirty()')
  }

  /** @param {{x: number, y: number}} from @param {{x: number, y: number}} to */
  async #drag (from, to) {
    const { mouse } = this.#page
    await mouse.move(from.x, from.y)
    await mouse.down()
    await mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 5 })
    await mouse.move(to.x, to.y, { steps: 5 })
    await mouse.up()
  }

  /** @param {string} type @returns {Promise<string[]>} */
  #ids (type) {
    return this.#page.evaluate(`RED.nodes.filterNodes({ type: "${type}" }).map(({ id }) => id)`)
  }
}

/** @param {import('playwright-core').Locator} locator */
async function boxOf (locator) {
  const box = await locator.boundingBox()
  if (!box) throw new Error(`Nothing is to be seen of ${locator}.`)
  return box
}

/** @param {{x: number, y: number, width: number, height: number}} box */
function middleOf ({ x, y, width, height }) {
  return { x: x + width / 2, y: y + height / 2 }
}
