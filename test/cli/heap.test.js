import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const root = new URL('../../', import.meta.url)
const read = (/** @type {string} */ path) => readFileSync(new URL(path, root), 'utf8')
const flagsIn = (/** @type {string} */ text) => text.match(/--[a-z-]+=\d+/g)

/** Keeps 60 MB, and passes on 400 MB, of which each message outlives some collections of the young: how large the heap has been, in MB. */
const PROGRAM = `
  const kept = Array.from({ length: 60 }, () => new Array(2 ** 17).fill(0.5))
  const passing = new Array(4000)
  let most = 0
  for (let i = 0; i < 400_000; i++) {
    passing[i % passing.length] = Array.from({ length: 120 }, () => i + 0.5)
    if (i % 1000 === 0) most = Math.max(most, process.memoryUsage().heapUsed)
  }
  console.log(most / 1e6, kept.length)
`

describe('the memory of a gateway that is started by itself', () => {
  const flags = flagsIn(read('gateway/cli/sluice.js').split('\n', 1)[0]) ?? []

  it('does not grow to several times what it needs before the old generation is collected for the first time', () => {
    const [most] = execFileSync(process.execPath, [...flags, '-e', PROGRAM], { encoding: 'utf8' }).split(' ')
    expect(Number(most)).to.be.below(160)
  })

  it('is the same however it is started, also for the bench', () => {
    expect(flagsIn(JSON.parse(read('package.json')).scripts.start)).to.deep.equal(flags)
    expect(flagsIn(read('gateway/bench/pipeline.js'))).to.deep.equal(flags)
  })
})
