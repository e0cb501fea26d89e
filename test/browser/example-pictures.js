import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { openBrowser } from './browser.js'
import { startGateway } from './gateway.js'

/**
 * The page of the examples: each is imported into the editor, and a picture taken of its flow. `npm run screenshots` makes all anew.
 */

const EXAMPLES = 'examples'
const FOLDER = 'docs/examples'
const MARGIN = 15

/** Its file below `docs/examples`. @param {string} example  below `examples` */
export function pictureOf (example) {
  const folder = dirname(example).replace(/^\d /, '')
  return `${folder}-${basename(example, '.json')}.png`.replaceAll(/[ /]/g, '-').toLowerCase()
}

/** @param {import('playwright-core').Page} page  of an empty editor */
async function takeAll (page) {
  const files = (await readdir(EXAMPLES, { recursive: true })).filter(name => name.endsWith('.json')).sort()
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  const lines = [
    '# The examples', '',
    '*Import → Examples → @sluice/node-red* in the editor. `npm run screenshots` writes this page and its pictures.'
  ]
  let heading = ''
  for (const file of files) {
    const text = await readFile(join(EXAMPLES, file), 'utf8')
    const [tab, comment] = JSON.parse(text)
    await page.evaluate(flow => {
      const { RED } = /** @type {any} */ (globalThis)
      RED.view.importNodes(flow, { generateIds: false, touchImport: true, notify: false })
      RED.workspaces.show(flow[0].id)
    }, JSON.parse(text))
    await page.waitForSelector(`#${comment.id}.red-ui-flow-node`)
    await page.evaluate('document.fonts.ready')
    const [x, y, right, bottom] = await page.$$eval('#red-ui-workspace-chart .red-ui-flow-node', nodes => {
      const boxes = nodes.map(node => node.getBoundingClientRect())
      return [
        Math.min(...boxes.map(box => box.left)), Math.min(...boxes.map(box => box.top)),
        Math.max(...boxes.map(box => box.right)), Math.max(...boxes.map(box => box.bottom))
      ]
    })
    const title = dirname(file)
    const picture = pictureOf(file)
    await page.screenshot({
      path: join(FOLDER, picture),
      clip: { x: x - MARGIN, y: y - MARGIN, width: right - x + 2 * MARGIN, height: bottom - y + 2 * MARGIN }
    })
    if (title !== heading) lines.push('', `## ${heading = title}`)
    lines.push('', `### ${tab.label}`, '', tab.info, '', `![${comment.name}](examples/${picture})`)
  }
  await writeFile(`${FOLDER}.md`, `${lines.join('\n')}\n`)
}

if (process.argv[1] === import.meta.filename) {
  const gateway = await startGateway([{ id: 'empty', type: 'tab', label: 'empty' }])
  const { page, close } = await openBrowser(['--force-device-scale-factor=1'])
  try {
    await page.setViewportSize({ width: 1700, height: 900 })
    await page.goto(gateway.editorUrl)
    await page.waitForFunction('window.RED?.workspaces?.active() && !RED.nodes.dirty()')
    await page.waitForSelector('#red-ui-loading-progress', { state: 'hidden' })
    await page.waitForSelector('.red-ui-palette-node[data-palette-type="sluice-stats"]', { state: 'attached' })
    await page.addStyleTag({ content: '#red-ui-notifications, .red-ui-flow-node-changed { display: none }' })
    await page.evaluate('RED.actions.invoke("core:toggle-sidebar"); RED.actions.invoke("core:toggle-palette")')
    await takeAll(page)
  } finally {
    await close()
    await gateway.stop()
  }
}
