import { realpath, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { nameOf } from '../flow.js'
import { note, ok, problem, warning } from '../finding.js'
import { groupName, mayUse } from '../system-user.js'
import { said } from '../../stats/phrases.js'

/** @typedef {import('../finding.js').Finding} Finding */

/** The serial lines in the flow. None is opened: that would disturb who uses it. @type {import('../finding.js').Check} */
export const serial = {
  name: 'serial',
  title: 'Serial lines',
  async find (subject) {
    const flow = await subject.flow
    if (!flow) return []
    const nodes = [...flow.ofType('sluice-modbus-device'), ...flow.ofType('sluice-modbus-simulator')]
    const wanted = await Promise.all(nodes.map(async node => ({ node, options: (await flow.optionsOf(node)).options })))
    const lines = wanted.filter(({ options }) => options.connection === 'rtu' && !/^COM\d/i.test(options.path))
    return Promise.all(lines.map(({ node, options }) => lineFinding(subject, options.path, `${options.path}, ${nameOf(node)}`)))
  }
}

/** @param {import('../subject.js').Subject} subject @param {string} path @param {string} where @returns {Promise<Finding>} */
async function lineFinding ({ files, user }, path, where) {
  const found = await stat(path).catch(() => null)
  if (!found) {
    return problem(said`There is no such serial port.`, where, said`Plug the adapter in; ls -l /dev/serial/by-id shows those there are.`)
  }
  if (!found.isCharacterDevice()) {
    return problem(said`It is no serial port.`, where, said`Choose one of /dev/serial/by-id in the device node.`)
  }
  if (!mayUse(user, found)) {
    const group = groupName(files, found.gid)
    return problem(said`${user.name} may not use it: it is for the group ${group}.`, where,
      said`sudo usermod -aG ${group} ${user.name}, then restart the gateway; under systemd, PrivateDevices must be off.`)
  }
  const consoles = (files.text('/proc/consoles') ?? '').split('\n').map(line => line.split(' ')[0])
  if (consoles.includes(basename(await realpath(path)))) {
    return warning(said`The system uses it as its console, and writes to it.`, where,
      said`Take it out of the kernel's command line (raspi-config: Interface Options, Serial Port), and restart.`)
  }
  if (/^\/dev\/tty(USB|ACM)\d/.test(path)) {
    return note(said`It is there. Its number depends on what is plugged in first.`, where, said`Use its name in /dev/serial/by-id.`)
  }
  return ok(said`It is there, and ${user.name} may use it.`, where)
}
