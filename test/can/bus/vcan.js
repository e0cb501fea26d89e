import { execFileSync } from 'node:child_process'
import { open } from './rig.js'

/** Why this kernel has no virtual CAN interface, or null: it has made one. @param {string} name */
export async function noVcan (name) {
  try {
    execFileSync('ip', ['link', 'add', 'dev', name, 'type', 'vcan'], { stdio: 'pipe' })
    execFileSync('ip', ['link', 'set', name, 'up'], { stdio: 'pipe' })
  } catch (error) {
    return `ip link add type vcan: ${String(/** @type {any} */ (error).stderr ?? error).trim()}`
  }
  try {
    await (await open({ kind: 'socketcan', interface: name })).close()
    return null
  } catch (error) {
    return /** @type {Error} */ (error).message
  }
}
