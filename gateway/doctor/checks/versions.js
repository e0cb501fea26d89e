import { readFileSync } from 'node:fs'
import { note, ok, problem } from '../finding.js'

const { version, engines, peerDependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))

/** @type {import('../finding.js').Check} */
export const versions = {
  name: 'versions',
  title: 'Versions',
  async find ({ place: { nodeRed }, pid, state }) {
    return [
      ok(`Sluice ${version}.`),
      isOlder(process.versions.node, engines.node)
        ? problem(`Node ${process.versions.node} is too old.`, process.execPath, `Install one that is ${engines.node}.`)
        : ok(`Node ${process.versions.node}.`, process.execPath),
      nodeRedVersion(nodeRed),
      { running: ok(`The gateway runs as process ${pid}.`), stopped: note('The gateway does not run.'), unknown: UNKNOWN }[state]
    ]
  }
}

const UNKNOWN = note('Whether it runs is not known: this is the folder of a Node-RED of your own, or nothing has been started here.')

/** @param {string|null} found */
function nodeRedVersion (found) {
  const wanted = peerDependencies['node-red']
  if (found === null) return problem('Node-RED is not installed.', '', 'Install it beside Sluice: npm install node-red')
  return isOlder(found, wanted) ? problem(`Node-RED ${found} is too old.`, '', `Install one that is ${wanted}.`) : ok(`Node-RED ${found}.`)
}

/** @param {string} found @param {string} wanted  such as ">=22.13" */
function isOlder (found, wanted) {
  const [has, needs] = [found, wanted].map(text => (text.match(/\d+/g) ?? []).map(Number))
  const different = needs.findIndex((number, i) => has[i] !== number)
  return different !== -1 && (has[different] ?? 0) < needs[different]
}
