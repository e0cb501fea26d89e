import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { freePort } from '../servers/ports.js'
import { flowLoaded, openBrowser, requireChromium, slidIn } from './browser.js'
import { startGateway } from './gateway.js'

/** Set it to a folder to look at what the tests see. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

const TAGS = '[data-option=tags]'
const EDITED = `${TAGS} .sluice-edited`

/** Tags as a spreadsheet has them. */
const SPREADSHEET = [
  'Type\tAddress\tName\tScale\tRemark',
  ...Array.from({ length: 300 }, (_, i) => `${i % 2 ? 'FLOAT32' : 'int16'}\t${2 * i}\ttag ${i}\t${i},5\tx`)
].join('\r\n')

describe('tables in a browser', function () {
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {import('playwright-core').Page} */
  let page
  /** @type {string} the CSV file exported */
  let exported
  /** @type {string[]} */
  const pageErrors = []

  before(async function () {
    requireChromium(this)
    const port = await freePort()
    gateway = await startGateway([
      { id: 'flow', type: 'tab', label: 'flow' },
      {
        id: 'plant',
        type: 'sluice-modbus-simulator',
        z: 'flow',
        port,
        registers: [
          { address: 10, type: 'float32', order: 'CDAB', value: 21.5 },
          { area: 'coils', address: 3, value: 1 }
        ],
        x: 200,
        y: 100,
        wires: [[]]
      },
      { id: 'device', type: 'sluice-modbus-device', name: 'plant', host: '127.0.0.1', port },
      {
        id: 'read',
        type: 'sluice-modbus-read',
        z: 'flow',
        name: 'boiler',
        device: 'device',
        tags: [],
        autostart: false,
        x: 200,
        y: 200,
        wires: [[]]
      }
    ])
    browser = await openBrowser()
    page = browser.page
    page.on('pageerror', error => pageErrors.push(error.stack ?? error.message))
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(gateway.editorUrl)
    await flowLoaded(page, 'node("read")')
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  it('are reached, and pasted into, by keyboard alone while they are empty', async () => {
    await openForm()
    await page.focus('#node-input-addressing')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.ariaLabel')).to.equal('Tags')
    await paste('first\tcoils\nsecond\tcoils')
    expect(await count()).to.equal('2 rows, 4 problems') // no address, and a type that coils do not have
    await page.$eval('#node-dialog-cancel', element => /** @type {HTMLElement} */ (element).click())
    await page.waitForSelector('.sluice-row', { state: 'detached' })
  })

  it('take 300 rows pasted from a spreadsheet, its columns by their headers', async () => {
    await openForm()
    await page.click(`${TAGS} .sluice-table-hint`)
    await paste(SPREADSHEET)
    expect(await notice()).to.equal('300 rows, 1 unknown column left out: Remark.')
    expect(await count()).to.equal('300 rows')
    expect(await cells(2)).to.include.members(['tag 1', '2', 'float32', '1.5'])
    await look('pasted')
  })

  it('have fields in one row only, so that they stay quick', async () => {
    expect(await page.$$eval(`${TAGS} tbody tr:has(input, select)`, rows => rows.length)).to.equal(1)
  })

  it('mark a wrong cell with its reason, and go to it from the list below', async () => {
    await edit(17, 'scale', 'much')
    expect(await problems()).to.deep.equal(['Row 17: Scale must be a number; "much" is not a number.'])
    expect(await count()).to.equal('300 rows, 1 problem')
    await edit(20, 'name', 'tag 3')
    expect(await problems()).to.deep.equal([
      'Row 17: Scale must be a number; "much" is not a number.',
      'Row 20: Name must be unique; "tag 3" is in row 4 too.'
    ])
    expect(await page.$$eval(`${TAGS} .sluice-bad`, bad => bad.map(cell => cell.getAttribute('title')))).to.deep.equal([
      'Scale must be a number; "much" is not a number.',
      'Name must be unique; "tag 3" is in row 4 too.'
    ])
    await look('problems')
    await page.click(`${TAGS} .sluice-table-problems button >> nth=0`)
    expect(await caret()).to.deep.equal({ row: 17, name: 'scale' })
    await page.keyboard.type('0.17')
    await edit(20, 'name', 'tag 19')
    expect(await problems()).to.deep.equal([])
  })

  it('mark what the gateway would refuse, and say why: addresses, types, scale, groups, reserved names', async () => {
    const refused = {
      address: ['abc', 'Address must be a whole number.'],
      scale: ['0', 'Scale must not be 0.'],
      group: ['fast', 'Group must be one of default; "fast" is not one of them.'],
      name: ['time', 'Name "time" cannot be the name of a value: it is the name of the time.']
    }
    for (const [name, [text, problem]] of Object.entries(refused)) {
      const before = await edit(17, name, text)
      expect(await problems()).to.deep.equal([`Row 17: ${problem}`])
      expect(await page.getAttribute(`${TAGS} tbody tr:nth-child(17) .sluice-bad`, 'title')).to.equal(problem)
      await edit(17, name, before)
    }
    for (const address of ['-1', '1,5', '1.5', '70000']) {
      const before = await edit(17, 'address', address)
      expect(await problems(), address).to.have.length(1)
      expect((await problems())[0], address).to.match(/^Row 17: Address (must|names)/)
      await edit(17, 'address', before)
    }
    expect(await problems()).to.deep.equal([])
  })

  it('are marked anew when what their addresses mean is chosen', async () => {
    await page.selectOption('#node-input-addressing', 'data-sheet')
    expect(await count()).to.equal('300 rows, 300 problems')
    expect((await problems())[0]).to.equal(
      'Row 1: Address must have five or six digits, the first of them 0, 1, 3 or 4, such as 40001.')
    await look('data-sheet')
    await page.selectOption('#node-input-addressing', 'protocol')
    expect(await count()).to.equal('300 rows')
  })

  it('ask for nothing that does not matter in its row', async () => {
    await goTo(3, 'name')
    expect(await page.isDisabled(`${EDITED} [data-name=length]`)).to.equal(true)
    await page.selectOption(`${EDITED} [data-name=type]`, 'string')
    expect(await page.isDisabled(`${EDITED} [data-name=length]`)).to.equal(false)
    expect(await page.isDisabled(`${EDITED} [data-name=scale]`)).to.equal(true)
    await page.fill(`${EDITED} [data-name=length]`, '8')
  })

  it('are walked through by keyboard', async () => {
    const walk = async (/** @type {string} */ key) => {
      await page.keyboard.press(key)
      return caret()
    }
    await goTo(5, 'address')
    expect(await walk('ArrowDown')).to.deep.equal({ row: 6, name: 'address' })
    expect(await walk('Enter')).to.deep.equal({ row: 7, name: 'address' })
    expect(await walk('Shift+Enter')).to.deep.equal({ row: 6, name: 'address' })
    expect(await walk('Shift+Tab')).to.deep.equal({ row: 6, name: 'area' })
    expect(await walk('Shift+Tab')).to.deep.equal({ row: 6, name: 'name' })
    expect(await walk('Shift+Tab')).to.deep.equal({ row: 5, name: 'heartbeatMs' })
    expect(await walk('Tab')).to.deep.equal({ row: 6, name: 'name' })
    expect(await walk('Alt+ArrowUp')).to.deep.equal({ row: 5, name: 'name' })
    expect((await cells(6))[0]).to.equal('tag 4')
    expect(await walk('Alt+ArrowDown')).to.deep.equal({ row: 6, name: 'name' })
  })

  it('grow by Enter in the last row, and by a paste that reaches below it; shrink by a button', async () => {
    await goTo(300, 'name')
    await page.keyboard.press('Enter')
    expect(await caret()).to.deep.equal({ row: 301, name: 'name' })
    await paste('new 1\tinput registers\nnew 2\tcoils')
    expect(await notice()).to.equal('2 rows.')
    expect((await cells(302)).slice(0, 2)).to.deep.equal(['new 2', 'coils'])
    await page.click(`${TAGS} tbody tr:last-child [data-do=delete]`)
    await page.keyboard.press('Alt+Delete')
    expect(await count()).to.equal('300 rows')
  })

  it('paste one cell as text', async () => {
    await edit(300, 'name', '')
    await paste('tag, 299\r\n')
    expect(await page.inputValue(`${EDITED} [data-name=name]`)).to.equal('tag, 299')
  })

  it('go into a CSV file', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`${TAGS} >> text=Export CSV`)])
    expect(download.suggestedFilename()).to.equal('boiler-tags.csv')
    exported = await readFile(await download.path(), 'utf8')
    const lines = exported.split('\r\n')
    expect(lines[0]).to.equal('\uFEFFname,area,address,type,length,order,scale,offset,unit,group,deadband,heartbeatMs')
    expect(lines[2]).to.equal('tag 1,,2,float32,,,1.5,,,,,')
    expect(lines[300]).to.match(/^"tag, 299",/)
  })

  it('are stored, deployed and read back', async () => {
    await closeForm()
    await page.click('#red-ui-header-button-deploy')
    await page.waitForFunction('!RED.nodes.dirty()')
    await page.reload()
    await flowLoaded(page, 'node("read")')
    expect(await page.evaluate('RED.nodes.node("read").valid')).to.equal(true)
    /** @type {any[]} */
    const tags = await page.evaluate('RED.nodes.node("read").tags')
    expect(tags).to.have.length(300)
    expect(tags[1]).to.deep.include({ name: 'tag 1', area: 'holding-registers', address: '2', type: 'float32', scale: 1.5 })
    expect(tags[2]).to.deep.include({ name: 'tag 2', type: 'string', length: 8 })
  })

  it('come back from the file: instead of the rows there are, or behind them', async () => {
    await openForm()
    const before = await table()
    await importCsv(exported)
    expect(await notice()).to.match(/^Rows in tags\.csv: 300\. Rows in the table: 300\./)
    await look('import')
    await page.click(`${TAGS} .sluice-table-notice >> text=Replace`)
    expect(await notice()).to.equal('300 rows.')
    expect(await table()).to.deep.equal(before)

    await importCsv('name;scale;colour\n"a;b";1,5;red\n')
    await page.click(`${TAGS} .sluice-table-notice >> text=Append`)
    expect(await notice()).to.equal('1 row, 1 unknown column left out: colour.')
    expect(await problems()).to.deep.equal(['Row 301: Address is missing.'])
    expect(await cells(301)).to.include.members(['a;b', '1.5'])
  })

  it('say why a file cannot be read, and keep what they have', async () => {
    await importCsv('name,scale\n"a,1\n')
    expect(await notice()).to.equal('tags.csv: The quote in line 2 is not closed.')
    expect(await count()).to.equal('301 rows, 1 problem')
  })

  it('stay within the form, in the dark too', async () => {
    await page.evaluate('document.documentElement.classList.add("nr-theme-dark")')
    for (const width of [1000, 1280, 1600]) {
      await page.setViewportSize({ width, height: 900 })
      await page.waitForFunction(each => innerWidth === each, width)
      const tooWide = await page.$$eval('.sluice-row:not([hidden])', rows =>
        rows.filter(row => row.scrollWidth > row.clientWidth).map(row => row.getAttribute('data-option')))
      expect(tooWide, `${width} px`).to.deep.equal([])
      await look(`dark-${width}`)
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.evaluate('document.documentElement.classList.remove("nr-theme-dark")')
  })

  it('show what a register holds now, in all types and orders, and take the one that is right', async () => {
    await page.click(`${TAGS} >> text=Add row`)
    await page.fill(`${EDITED} [data-name=name]`, 'temperature')
    await page.click(`${EDITED} [data-do=act]`)
    expect(await page.textContent('.sluice-try .sluice-problem')).to.equal('Address is missing.')
    await page.fill(`${EDITED} [data-name=address]`, '10')
    await page.click(`.sluice-try td button:text-is("21.5")`)
    expect(await page.inputValue(`${EDITED} [data-name=type]`)).to.equal('float32')
    expect(await page.inputValue(`${EDITED} [data-name=order]`)).to.equal('CDAB')
    await page.waitForSelector('.sluice-try .sluice-chosen')
    expect(await page.textContent('.sluice-try .sluice-chosen')).to.equal('21.5')
    await look('try')
    await page.click('.sluice-try >> text=Close')
    expect(await page.$('.sluice-try')).to.equal(null)
  })

  it('show bits, and follow the row', async () => {
    await page.selectOption(`${EDITED} [data-name=area]`, 'coils')
    await page.fill(`${EDITED} [data-name=address]`, '3')
    await page.click(`${EDITED} [data-do=act]`)
    await page.waitForSelector('.sluice-try-raw')
    expect(await page.textContent('.sluice-try-raw')).to.equal('1 0 0 0')
    await page.fill(`${EDITED} [data-name=address]`, '70000')
    expect(await page.textContent('.sluice-try .sluice-problem')).to.equal('Address must be 0 to 65535.')
  })

  it('raise no error in the browser', () => {
    expect(pageErrors).to.deep.equal([])
  })

  async function openForm () {
    await page.evaluate('RED.editor.edit(RED.nodes.node("read"))')
    await slidIn(page, `${TAGS} .sluice-table`)
  }

  async function closeForm () {
    await page.$eval('#node-dialog-ok', element => /** @type {HTMLElement} */ (element).click())
    await page.waitForSelector('.sluice-row', { state: 'detached' })
  }

  /** @param {string} text */
  async function paste (text) {
    await page.evaluate(copied => navigator.clipboard.writeText(copied), text)
    await page.keyboard.press('Control+V')
  }

  /** @param {string} text */
  async function importCsv (text) {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.click(`${TAGS} >> text=Import CSV…`)])
    await page.$eval(`${TAGS} .sluice-table-notice`, element => element.replaceChildren())
    await chooser.setFiles({ name: 'tags.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
    await page.waitForSelector(`${TAGS} .sluice-table-notice:not(:empty)`)
  }

  /** Opens a row as the mouse does. @param {number} row @param {string} name */
  async function goTo (row, name) {
    await page.click(`${TAGS} tbody tr:nth-child(${row}) td >> nth=0`)
    await page.focus(`${EDITED} [data-name=${name}]`)
  }

  /** @param {number} row @param {string} name @param {string} text @returns {Promise<string>} what was there */
  async function edit (row, name, text) {
    await goTo(row, name)
    const before = await page.inputValue(`${EDITED} [data-name=${name}]`)
    await page.fill(`${EDITED} [data-name=${name}]`, text)
    return before
  }

  /** Where the next key goes. @returns {Promise<{row: number, name: string}>} */
  function caret () {
    return page.evaluate('({ row: document.activeElement.closest("tr").sectionRowIndex + 1, name: document.activeElement.dataset.name })')
  }

  /** What is in a row, edited or not. @param {number} row @returns {Promise<string[]>} */
  function cells (row) {
    return page.$eval(`${TAGS} tbody tr:nth-child(${row})`, element =>
      [...element.querySelectorAll('td')].map(cell => /** @type {any} */ (cell.querySelector('input, select'))?.value ?? cell.textContent)
    )
  }

  /** All rows but the first, which is edited. @returns {Promise<string[][]>} */
  function table () {
    return page.$$eval(`${TAGS} tbody tr:not(.sluice-edited)`, rows =>
      rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent ?? ''))
    )
  }

  function problems () {
    return page.$$eval(`${TAGS} .sluice-table-problems li`, items => items.map(item => item.textContent))
  }

  const count = () => page.textContent(`${TAGS} .sluice-table-count`)
  const notice = () => page.textContent(`${TAGS} .sluice-table-notice`)

  /** @param {string} name */
  async function look (name) {
    if (!SCREENSHOTS) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: path.join(SCREENSHOTS, `tables-${name}.png`) })
  }
})
