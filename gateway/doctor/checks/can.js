import { join } from 'node:path'
import { CanInterface } from '../../can/bus/interface.js'
import { nameOf } from '../flow.js'
import { note, ok, problem, warning } from '../finding.js'
import { said } from '../../stats/phrases.js'

/**
 * @typedef {import('../finding.js').Finding} Finding
 *
 * @typedef {object} Link  what `ip -details -json link show` tells
 * @property {number} [txqlen]
 * @property {{info_kind?: string, info_data?: LinkData}} [linkinfo]
 *
 * @typedef {object} LinkData
 * @property {string} [state]
 * @property {{bitrate?: number}} [bittiming]
 * @property {number} [restart_ms]
 * @property {{tx: number, rx: number}} [berr_counter]
 */

/** What the kernel gives a CAN interface: a burst of frames is refused. */
const SHORT_QUEUE = 10
const WIRING = said`Check the bit rate, both terminators of 120 Ω, CAN high and low, and that another node is on: nobody alone gets an
  answer.`

/** @type {import('../finding.js').Check} */
export const can = {
  name: 'can',
  title: 'CAN interfaces',
  async find (subject) {
    const flow = await subject.flow
    const nodes = await Promise.all((flow?.ofType('sluice-can-bus') ?? []).map(async node => {
      return { node, options: (await /** @type {NonNullable<typeof flow>} */ (flow).optionsOf(node)).options }
    }))
    const buses = nodes.filter(({ options }) => options.kind === 'socketcan')
    if (buses.length === 0) return []
    const found = await Promise.all(buses.map(({ node, options }) => busFindings(subject, options, nameOf(node))))
    return [...await hasSocketcan() ? [] : [MISSING], ...found.flat()]
  }
}

const MISSING = problem(said`The package socketcan is not installed.`, '',
  said`Install it beside Sluice, which takes a C++ compiler: npm install socketcan`)

/** Its name is not written where it is imported: it may be missing. */
async function hasSocketcan () {
  try {
    import.meta.resolve('socketcan')
    return true
  } catch {
    return false
  }
}

/**
 * @param {import('../subject.js').Subject} subject
 * @param {Record<string, any>} options
 * @param {string} bus
 * @returns {Promise<Finding[]>}
 */
async function busFindings ({ place: { root = '' }, run }, { interface: name, bitrate, sending }, bus) {
  const where = `${name}, ${bus}`
  const counts = await new CanInterface(name, join(root, '/sys/class/net')).counts()
  const up = `sudo ip link set ${name} up type can bitrate ${bitrate || 500_000} restart-ms 100`
  if (counts === null) {
    return [problem(said`There is no such interface.`, where, said`Plug the adapter in, or load its driver: see ip link.`)]
  }
  if (!counts.isUp) return [problem(said`The interface is down.`, where, up)]
  const link = linkIn(await run('ip', ['-details', '-json', 'link', 'show', 'dev', name]))
  const { state = '', bittiming, restart_ms: restartMs, berr_counter: errors } = link?.linkinfo?.info_data ?? {}
  const restart = `sudo ip link set ${name} down; ${up}`
  const found = [...stateFindings(state, errors, where, restart)]
  if (bitrate && bittiming?.bitrate && bitrate !== bittiming.bitrate) {
    found.push(problem(said`The interface has ${bittiming.bitrate} bit/s, the node says ${bitrate}.`, where, restart))
  }
  if (sending && link?.txqlen !== undefined && link.txqlen <= SHORT_QUEUE) {
    const what = said`Its queue holds ${link.txqlen} frames: a burst of more is refused.`
    found.push(warning(what, where, `sudo ip link set ${name} txqueuelen 1000`))
  }
  if (restartMs === 0) found.push(note(said`After bus-off it stays off until somebody restarts it.`, where, restart))
  if (counts.drops > 0) {
    found.push(warning(said`${counts.drops} frames were lost in the controller or for lack of memory since it exists.`, where,
      said`The machine was too busy: see the processor time on the live page.`))
  }
  const rate = bittiming?.bitrate ? `, ${bittiming.bitrate} bit/s` : ''
  return found.length > 0 ? found : [ok(said`It is up${rate}, and ${counts.frames} frames have passed.`, where)]
}

/**
 * @param {string} state
 * @param {LinkData['berr_counter']} errors
 * @param {string} where
 * @param {string} restart
 * @returns {Finding[]}
 */
function stateFindings (state, errors, where, restart) {
  const counters = errors ? said` (error counters: ${errors.tx} sending, ${errors.rx} receiving)` : ''
  switch (state.toLowerCase()) {
    case 'bus-off':
    case 'stopped':
      return [problem(said`The controller is off the bus: ${state.toLowerCase()}${counters}.`, where, said`${WIRING} Then: ${restart}`)]
    case 'error-passive':
    case 'error-warning':
      return [warning(said`The bus is disturbed: ${state.toLowerCase()}${counters}.`, where, WIRING)]
    default:
      return []
  }
}

/** @param {string|null} json @returns {Link|null} */
function linkIn (json) {
  return json === null ? null : JSON.parse(json)[0] ?? null
}
