import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { Gateway } from './gateway.js'

const FOLDERS = ['1 Start here', '2 Sources', '3 Databases', '4 Replace your nodes', '5 Benchmarks']
const files = readdirSync('examples', { recursive: true, withFileTypes: true }).filter(each => each.isFile())
  .map(({ parentPath, name }) => join(parentPath, name)).sort()

describe('The examples', () => {
  for (const file of files) {
    it(`${file} begins with a comment that says what to press and what to see`, () => {
      const [tab, comment, ...rest] = JSON.parse(readFileSync(file, 'utf8'))
      expect([tab.type, comment.type]).to.deep.equal(['tab', 'comment'])
      expect(comment.name).to.match(/[Dd]eploy\b/)
      expect(comment.name + comment.info).to.match(/[Pp]ress|debug sidebar|sink|status/)
      const above = rest.filter((/** @type {any} */ { z, y }) => z === tab.id && y <= comment.y)
      expect(above).to.deep.equal([])
    })
  }

  describe('in Node-RED', () => {
    /** @type {Gateway} */
    let gateway
    before(async () => { gateway = await Gateway.start() })
    after(() => gateway?.remove())

    it('are listed in the order in which to read them, and nothing beside them', async () => {
      const listed = async (/** @type {string} */ folder) => JSON.parse(
        (await gateway.page(`library/examples/flows/@sluice/node-red/${encodeURI(folder)}`)).text
      )
      expect(await listed('')).to.deep.equal(FOLDERS)
      const shown = async (/** @type {string} */ folder) => {
        /** @type {string[]} */
        const names = []
        for (const each of await listed(folder)) {
          if (typeof each === 'string') names.push(...await shown(`${folder}/${each}`))
          else names.push(`examples/${folder}/${each.fn}.json`)
        }
        return names
      }
      expect((await Promise.all(FOLDERS.map(shown))).flat().sort()).to.deep.equal(files)
    })

    it('have no node that Sluice and Node-RED do not bring, unless the comment names its package', async () => {
      const flows = files.map(file => JSON.parse(readFileSync(file, 'utf8')))
      const complete = flows.filter(([, { name }]) => !/^First install @[\w/-]+ /.test(name))
      expect(flows.length - complete.length).to.equal(1)
      await gateway.deploy(complete.flat().map(node => node.type === 'tab' ? { ...node, disabled: true } : node))
      expect(gateway.log).not.to.match(/missing types/i)
    })
  })
})
