import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { expect } from 'chai'
import { FLOORS } from '../tools/floors.js'

/** Imports, and the types that comments import. ESLint sees only the first (`import-x/no-restricted-paths`). */
const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g

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
