import { join, parse } from 'node:path'
import { describe } from '../base/errors.js'
import { makePrivate } from '../base/files.js'

/**
 * Keeps what Node-RED writes for everybody to read, passwords of flows (encrypted) and logins among it, to its owner.
 * @param {{on: (event: 'flows:started', listener: () => void) => void}} events  of Node-RED: it writes passwords at each deploy
 * @param {{userDir: string, flowFile: string}} settings
 * @param {(line: string) => void} log
 */
export function guardSecretFiles (events, { userDir, flowFile }, log) {
  const { dir, name, ext } = parse(flowFile)
  const credentials = [`${name}_cred${ext}`, `.${name}_cred${ext}.backup`]
  const paths = new Set([userDir, dir].flatMap(folder => credentials.map(file => join(folder, file))))
  paths.add(join(userDir, '.sessions.json'))
  const guard = () => {
    for (const path of paths) {
      try {
        makePrivate(path)
      } catch (error) {
        log(`Others may be able to read ${path}: ${describe(error)}`)
      }
    }
  }
  guard()
  events.on('flows:started', guard)
}
