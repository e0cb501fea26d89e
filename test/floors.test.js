import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { expect } from 'chai'
import { FLOORS } from '../tools/floors.js'

/** Imports, and the types that comments import. ESLint sees only the first (`import-x/no-restricted-paths`). */
const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g

/** What a module cannot be loaded without. */
const NEEDED = /^(?:import|(?:import|export) [^'=]* from) '([^']+)'/gm

/** Each takes some of the start, and of the memory, of a gateway that has no such database. */
const DRIVERS = [
  '@clickhouse/client', '@duckdb/node-api', '@platformatic/kafka', 'cassandra-driver', 'hdb', 'influx', 'mongodb', 'mysql2', 'pg'
]

describe('The floors of the house', () => {
  it('are all there are: every folder of code stands on one', () => {
    expect(sources().filter(file => floorOf(file) === -1)).to.deep.equal([])
  })

  it('are never climbed by an import, of a type neither', () => {
    const climbing = sources().filter(file => !file.startsWith('test/')).flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(IMPORT)]
        .map(([, path]) => normalize(join(dirname(file), path)).replaceAll(sep, '/'))
        .filter(imported => floorOf(imported) > floorOf(file))
        .map(imported => `${file} imports ${imported}`))
    expect(climbing).to.deep.equal([])
  })

  it('have no driver of a database loaded with the nodes, before one is used', () => {
    const { dependencies, optionalDependencies, 'node-red': { nodes } } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect({ ...dependencies, ...optionalDependencies }).to.include.all.keys(DRIVERS)
    /** @type {Set<string>} */
    const loaded = new Set(Object.values(nodes))
    for (const file of loaded) {
      for (const [, path] of file.endsWith('.js') ? readFileSync(file, 'utf8').matchAll(NEEDED) : []) {
        loaded.add(path.startsWith('.') ? normalize(join(dirname(file), path)) : path)
      }
    }
    expect([...loaded].filter(path => DRIVERS.some(driver => path.startsWith(driver)))).to.deep.equal([])
    expect(loaded).to.include('mqtt')
  })
})

/** JavaScript files in folders, by their path from the root. */
function sources () {
  return ['resources', 'gateway', 'broker', 'nodes', 'tools', 'test'].flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map(name => `${folder}/${name.replaceAll(sep, '/')}`)
      .filter(name => name.endsWith('.js')))
}

/** @param {string} file */
function floorOf (file) {
  return FLOORS.findIndex(floor => file.startsWith(`${floor}/`))
}
