import { SystemFiles } from '../stats/monitor/system-files.js'

const LISTENING = '0A'

/**
 * The process that listens on a port of this machine, found by its socket; undefined where it may not be seen, as that of another user, or
 * where it is another program, as a tunnel or the proxy of a container.
 * @param {number} port @param {RegExp} program  its name, of which the kernel keeps 15 characters
 * @returns {number|undefined}
 */
export function listenerOf (port, program) {
  const files = new SystemFiles()
  const sockets = new Set(['tcp', 'tcp6'].flatMap(name => {
    const lines = files.text(`/proc/net/${name}`)?.split('\n').slice(1) ?? []
    return lines.map(line => line.trim().split(/ +/))
      .filter(([, local, , state]) => state === LISTENING && Number.parseInt(local.split(':')[1], 16) === port)
      .map(fields => `socket:[${fields[9]}]`)
  }))
  const pids = (files.names('/proc') ?? []).filter(name => /^\d+$/.test(name) && program.test(files.text(`/proc/${name}/comm`) ?? ''))
  const pid = pids.find(each => files.names(`/proc/${each}/fd`)?.some(id => sockets.has(files.link(`/proc/${each}/fd/${id}`) ?? '')))
  return pid === undefined ? undefined : Number(pid)
}
