/**
 * By hand: imports each example into the editor and takes a picture of its flow.
 *
 *   node test/by-hand/example-pictures.js [FOLDER]      docs/examples, unless another is named
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { openBrowser } from '../browser/browser.js'
import { startGateway } from '../browser/gateway.js'

const EXAMPLES = 'examples'
const MARGIN = 15
const folder = process.argv[2] ?? 'docs/examples'

const files = (await readdir(EXAMPLES, { recursive: true })).filter(name => name.endsWith('.json')).sort()
const gateway = await startGateway([{ id: 'empty', type: 'tab', label: 'empty' }])
const { page, close } = await openBrowser(['--force-device-scale-factor=1'])
await page.setViewportSize({ width: 1700, height: 900 })
await page.goto(gateway.editorUrl)
await page.waitForFunction('window.RED?.workspaces?.active() && !RED.nodes.dirty()')
await page.waitForSelector('#red-ui-loading-progress', { state: 'hidden' })
await page.waitForSelector('.red-ui-palette-node[data-palette-type="sluice-stats"]', { state: 'attached' })
await page.addStyleTag({ content: '#red-ui-notifications, .red-ui-flow-node-changed { display: none }' })
await page.evaluate('RED.actions.invoke("core:toggle-sidebar"); RED.actions.invoke("core:toggle-palette")')

await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
const lines = [
  '# The examples', '',
  '*Import → Examples → @sluice/node-red* in the editor. `node test/by-hand/example-pictures.js` writes this page and its pictures.'
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
  const title = relative('.', dirname(file))
  const picture = `${title.replace(/^\d /, '')}-${basename(file, '.json')}.png`.replaceAll(/[ /]/g, '-').toLowerCase()
  await page.screenshot({
    path: join(folder, picture),
    clip: { x: x - MARGIN, y: y - MARGIN, width: right - x + 2 * MARGIN, height: bottom - y + 2 * MARGIN }
  })
  if (title !== heading) lines.push('', `## ${heading = title}`)
  lines.push('', `### ${tab.label}`, '', tab.info, '', `![${comment.name}](examples/${picture})`)
}
await writeFile(`${folder}.md`, `${lines.join('\n')}\n`)
await close()
await gateway.stop()
