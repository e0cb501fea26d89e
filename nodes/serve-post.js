import { guarded, jsonOnly } from '../gateway/web/guard.js'

/**
 * Serves what a form of the editor asks, to those who may deploy; no page of another site can ask it.
 * @param {import('./node.js').RED} RED
 * @param {string} path  below the editor's
 * @param {(request: any, response: any) => unknown} answer
 * @param {'flows.write'|'flows.read'} [permission]  that is needed
 */
export function servePost (RED, path, answer, permission = 'flows.write') {
  const guard = guarded(RED.settings.sluice?.allowHosts)
  RED.httpAdmin.post(path, guard, jsonOnly, RED.auth.needsPermission(permission), answer)
}
