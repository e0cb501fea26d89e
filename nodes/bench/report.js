import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { SluiceError } from '../../gateway/base/errors.js'
import { dataDir, defineNode, failed, handlesInput, throttledStatus } from '../node.js'
import { sentence } from '../status.js'
import { BenchProgram } from './program.js'
import { schema } from './report.schema.js'
import { linkTo, runBefore, servedFolders, serveReports } from './reports.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  serveReports(RED)
  defineNode(RED, 'sluice-bench-report', schema, (node, options) => {
    const report = new BenchReport(RED, node, { ...options, folder: resolve(dataDir(RED), options.folder) })
    handlesInput(node, (message, send) => report.answer(message, send))
    node.on('close', (/** @type {() => void} */ done) => { report.close().finally(done) })
  })
}

class BenchReport {
  #show
  /** @type {Set<BenchProgram>} */
  #programs = new Set()

  /** @param {import('../node.js').RED} RED @param {import('../node.js').Node} node @param {{folder: string, compare: boolean}} options */
  constructor (RED, node, { folder, compare }) {
    this.RED = RED
    this.node = node
    this.folder = folder
    this.compare = compare
    this.#show = throttledStatus(node)
    servedFolders.set(node.id, folder)
  }

  /** @param {any} message @param {(message: any) => void} send */
  async answer (message, send) {
    this.#show({ fill: 'blue', shape: 'ring', text: 'writing' })
    try {
      const { folder, page, comparison } = await this.#write(message)
      this.#show({ fill: 'green', shape: 'dot', text: sentence('written', basename(folder)) })
      send({ ...message, payload: this.#link(page), folder, page, ...comparison && { comparison: this.#link(comparison.page) } })
    } catch (error) {
      this.#show(failed(error))
      throw error
    }
  }

  async close () {
    servedFolders.delete(this.node.id)
    for (const program of this.#programs) program.kill()
    await Promise.allSettled([...this.#programs].map(({ ended }) => ended))
  }

  /** @param {any} message @returns {Promise<{folder: string, page: string, comparison?: {page: string}}>} */
  async #write ({ payload, folder }) {
    if (Array.isArray(payload) && payload.every(each => typeof each === 'string')) {
      return this.#run('compare', payload.map(name => resolve(this.folder, name)))
    }
    const from = typeof payload === 'string' && payload !== '' ? resolve(this.folder, payload) : folder
    if (typeof from !== 'string') return this.#writeResult(payload)
    const report = await this.#run('report', [from])
    const before = this.compare && report.study ? await runBefore(this.folder, report.study, report.folder) : null
    return before ? { ...report, comparison: await this.#run('compare', [before, report.folder]) } : report
  }

  /** Of a result that was kept elsewhere, such as in a file. @param {any} result */
  async #writeResult (result) {
    if (typeof result?.study !== 'string' || !Array.isArray(result.cells)) {
      throw new SluiceError('SLUICE_BENCH_REPORT', 'The message has no result of a study.', {
        fix: 'Send the result of bench run, the folder of a run, or a list of folders to compare.'
      })
    }
    const parent = await mkdtemp(join(tmpdir(), 'sluice-report-'))
    try {
      const folder = join(parent, `${result.study.replace(/\W+/g, '-')}-${Number(result.startedMs)}`)
      await mkdir(folder)
      await writeFile(join(folder, 'result.json'), JSON.stringify(result))
      return await this.#run('report', [folder])
    } finally {
      await rm(parent, { recursive: true })
    }
  }

  /** What is told of it, of several studies the page that leads to all. @param {'report'|'compare'} verb @param {string[]} folders */
  async #run (verb, folders) {
    /** @type {any} */
    let last = null
    const program = new BenchProgram([verb, `--folder=${this.folder}`, '--', ...folders], { tell: event => { last = event } })
    this.#programs.add(program)
    try {
      await program.ended
      return last
    } finally {
      this.#programs.delete(program)
    }
  }

  /** @param {string} page */
  #link (page) {
    return linkTo(this.RED, this.folder, page)
  }
}
