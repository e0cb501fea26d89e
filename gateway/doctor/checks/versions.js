import { readFileSync } from 'node:fs'
import { note, ok, problem } from '../finding.js'
import { said } from '../../stats/phrases.js'

const { version, engines, peerDependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))

/** @type {import('../finding.js').Check} */
export const versions = {
  name: 'versions',
  title: 'Versions',
  async find ({ place: { nodeRed }, pid, state }) {
    return [
      ok(`Sluice ${version}.`),
      isOlder(process.versions.node, engines.node)
        ? problem(said`Node ${process.versions.node} is too old.`, process.execPath, said`Install one that is ${engines.node}.`)
        : ok(`Node ${process.versions.node}.`, process.execPath),
      nodeRedVersion(nodeRed),
      { running: ok(said`The gateway runs as process ${String(pid)}.`), stopped: NOT_RUNNING, unknown: UNKNOWN }[state]
    ]
  }
}

const NOT_RUNNING = note(said`The gateway does not run.`)
const UNKNOWN = note(said`Whether it runs is not known: this is the folder of a Node-RED of your own, or nothing has been started here.`)

/** @param {string|null} found */
function nodeRedVersion (found) {
  const wanted = peerDependencies['node-red']
  if (found === null) return problem(said`Node-RED is not installed.`, '', said`Install it beside Sluice: npm install node-red`)
  if (isOlder(found, wanted)) return problem(said`Node-RED ${found} is too old.`, '', said`Install one that is ${wanted}.`)
  return ok(`Node-RED ${found}.`)
}

/** @param {string} found @param {string} wanted  such as ">=22.13" */
function isOlder (found, wanted) {
  const [has, needs] = [found, wanted].map(text => (text.match(/\d+/g) ?? []).map(Number))
  const different = needs.findIndex((number, i) => has[i] !== number)
  return different !== -1 && (has[different] ?? 0) < needs[different]
}
