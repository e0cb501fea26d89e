import { resolve } from 'node:path'

/**
 * What a gateway that runs was started with: its command line says it, or its environment.
 *
 * @typedef {import('../stats/monitor/system-files.js').SystemFiles} SystemFiles
 */

/**
 * @param {SystemFiles} files
 * @param {number} pid
 * @returns {{port?: number, flowFile?: string}} without what neither says, or may be read
 */
export function startedWith (files, pid) {
  const args = listIn(files, `/proc/${pid}/cmdline`)
  const variables = variablesOf(files, pid)
  const given = (/** @type {string} */ option) => {
    const at = args.indexOf(`--${option}`)
    const joint = args.find(arg => arg.startsWith(`--${option}=`))
    return (at >= 0 ? args[at + 1] : joint?.slice(joint.indexOf('=') + 1)) ?? variables[`SLUICE_${option.toUpperCase()}`]
  }
  const [port, flows] = [given('port'), given('flows')]
  return { ...port && { port: Number(port) }, ...flows && { flowFile: resolve(files.link(`/proc/${pid}/cwd`) ?? '.', flows) } }
}

/** @param {SystemFiles} files @param {number} pid @returns {Record<string, string>} */
export function variablesOf (files, pid) {
  return Object.fromEntries(listIn(files, `/proc/${pid}/environ`).map(each => {
    const end = each.indexOf('=')
    return [each.slice(0, end), each.slice(end + 1)]
  }))
}

/** @param {SystemFiles} files @param {string} path */
function listIn (files, path) {
  return (files.text(path) ?? '').split('\0')
}
