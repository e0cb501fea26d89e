import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { readOptions } from '../../gateway/base/options.js'
import { errors } from '../../tools/errors.js'
import { generate } from '../../tools/generate.js'
import { faces } from '../../tools/nodes.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (/** @type {string} */ file) => readFileSync(path.join(root, file), 'utf8')

/** @type {Map<string, any>} */
const schemas = new Map()
for (const { type, file } of faces) schemas.set(type, (await import(`../../nodes/${file}.schema.js`)).schema)

const KEYWORDS = new Set([
  'type', 'title', 'description', 'default', 'enum', 'minimum', 'exclusiveMinimum', 'maximum', 'minLength', 'maxLength', 'pattern',
  'examples', 'minItems', 'maxItems', 'items',
  'x-unit', 'x-secret', 'x-node', 'x-when', 'x-advanced', 'x-pem', 'x-labels', 'x-unique', 'x-dbc', 'x-trial', 'x-offers', 'x-check',
  'x-maxBytes'
])

/** What Node-RED itself keeps with a node. */
const NODE_RED_KEYS = ['id', 'type', 'z', 'g', 'x', 'y', 'wires']

describe('the nodes in the editor', () => {
  it('have pages, catalogues, help and tables that are up to date with the schemas', async () => {
    const { files } = await generate()
    for (const [file, text] of files) {
      expect(existsSync(path.join(root, file)) && read(file) === text, `${file} is old: run npm run generate`).to.equal(true)
    }
  })

  it('say everything in every language', async () => {
    const { problems } = await generate()
    expect(problems).to.deep.equal([])
  })

  it('are all named in package.json', () => {
    const { nodes } = JSON.parse(read('package.json'))['node-red']
    expect(nodes).to.deep.equal(Object.fromEntries(faces.map(({ type, file }) => [type.replace('sluice-', ''), `nodes/${file}.js`])))
  })

  for (const { type, file, isConfig } of faces) {
    describe(type, () => {
      it('describes every option in keywords that the forms know', () => {
        checkProperties(schemas.get(type), [])
      })

      it('has help in which Node-RED can tell messages from text', () => {
        const locales = path.join('nodes', path.dirname(file), 'locales')
        const lines = readdirSync(path.join(root, locales))
          .flatMap(code => read(path.join(locales, code, `${path.basename(file)}.html`)).split('\n'))
        for (const line of lines.filter(each => each.startsWith(':'))) expect(line).to.match(/^: \w+ \([^:()]+\) : [^:]+$/)
      })

      it('has an icon', () => {
        expect(isConfig || existsSync(path.join(root, 'nodes', path.dirname(file), 'icons', `${type}.svg`))).to.equal(true)
      })

      it('is shown by an example', () => {
        expect(exampleFiles.filter(example => nodesOf(example).some(node => node.type === type))).not.to.deep.equal([])
      })
    })
  }
})

describe('the error reference', () => {
  const codes = Object.values(errors).flatMap(section => Object.keys(section))

  it('has each code once', () => {
    expect(codes).to.deep.equal([...new Set(codes)])
  })

  it('has the codes of the sources, and no others', () => {
    const sources = ['gateway', 'broker', 'nodes'].flatMap(folder => filesBelow(folder, '.js')).map(read)
    const used = sources.flatMap(source => [...source.matchAll(/(?<![=!]== )'(SLUICE(?:_[A-Z0-9]+)+)'/g)].map(([, code]) => code))
    expect(used.filter(code => !codes.includes(code)), 'tools/errors.js lacks').to.deep.equal([])
    expect(codes.filter(code => !used.includes(code)), 'no source throws').to.deep.equal([])
  })
})

describe('the documentation', () => {
  for (const file of ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...filesBelow('docs', '.md')]) {
    it(`links from ${file} to what exists`, () => {
      for (const [, link] of withoutCode(read(file)).matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
        const [name, anchor] = link.split('#')
        const target = name === '' ? file : path.join(path.dirname(file), name)
        expect(existsSync(path.join(root, target)), link).to.equal(true)
        if (anchor) expect(anchorsOf(read(target)), link).to.include(anchor)
      }
    })
  }
})

const exampleFiles = filesBelow('examples', '.json')

describe('The examples', () => {
  it('can all be imported beside each other: no id is in two of them', () => {
    const ids = exampleFiles.flatMap(file => nodesOf(file).map(({ id }) => id))
    expect(ids.filter((id, i) => ids.indexOf(id) < i)).to.deep.equal([])
  })
})

for (const file of ['flows/flows.json', 'flows/mosquitto.json', ...exampleFiles]) {
  describe(file, () => {
    const nodes = nodesOf(file)
    const own = nodes.filter(({ type }) => schemas.has(type))

    it('sets options that exist, to values they may have', () => {
      for (const node of own) {
        const schema = schemas.get(node.type)
        expect([...Object.keys(schema.properties), ...NODE_RED_KEYS], `${node.type} ${node.id}`).to.include.members(Object.keys(node))
        readOptions(schema, node)
      }
    })

    it('holds no secret', () => {
      for (const { type, credentials, ...config } of own) {
        expect(credentials).to.equal(undefined)
        for (const [name, property] of Object.entries(schemas.get(type).properties)) {
          if (/** @type {any} */ (property)['x-secret']) expect(config).not.to.have.property(name)
        }
      }
    })

    it('refers to nodes that exist, and has a comment that says what it shows', () => {
      const ids = nodes.map(({ id }) => id)
      const references = nodes.flatMap(({ wires = [], broker, server, g, z }) => [...wires.flat(), g, z, server, broker])
      const isId = (/** @type {string|undefined} */ reference) => reference !== undefined && !/^[\d.]+$/.test(reference)
      expect(ids).to.include.members(references.filter(isId))
      expect(nodes.some(({ type }) => type === 'comment')).to.equal(true)
    })
  })
}

/** @param {string} folder @param {string} ending */
function filesBelow (folder, ending) {
  const names = /** @type {string[]} */ (readdirSync(path.join(root, folder), { recursive: true }))
  return names.filter(name => name.endsWith(ending)).map(name => `${folder}/${name}`).sort()
}

/** @param {string} markdown */
function withoutCode (markdown) {
  return markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}

/** What GitHub makes of the headings. @param {string} markdown */
function anchorsOf (markdown) {
  const headings = [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading.toLowerCase())
  return headings.map(heading => heading.replace(/[^\p{L}\d _-]/gu, '').replaceAll(' ', '-'))
}

/** @param {string} file @returns {any[]} */
function nodesOf (file) {
  return JSON.parse(read(file))
}

/** @param {any} schema @param {string[]} above */
function checkProperties ({ properties, required = [] }, above) {
  /** @type {string[]} */
  const seen = []
  for (const [name, property] of Object.entries(properties)) {
    const place = [...above, name].join('.')
    expect(property, place).to.have.property('title').that.is.a('string').and.not.empty
    expect(property, place).to.have.property('description').that.is.a('string').and.not.empty
    if (!required.includes(name)) expect(property, place).to.have.property('default')
    expect([...KEYWORDS], `a keyword of ${place}`).to.include.members(Object.keys(property))
    expect(seen, `what ${place} depends on comes before it`).to.include.members(Object.keys(property['x-when'] ?? {}))
    if (property.items?.properties) checkProperties(property.items, [...above, name])
    seen.push(name)
  }
}
