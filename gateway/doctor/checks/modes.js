import { lstat, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe } from '../../base/errors.js'
import { note, ok, problem, warning } from '../finding.js'
import { said } from '../../stats/phrases.js'

/** @typedef {import('../finding.js').Finding} Finding */

const OTHERS = 0o007
const GROUP_AND_OTHERS = 0o077

/** In the user folder: passwords, encrypted or hashed, what they are encrypted with, and logins that are remembered. */
const SECRET = /_cred\.json(\.backup)?$|^credential-secret$|^users\.json$|^\.sessions\.json$/
/** Where a package or image keeps settings: those that hold secrets. */
const SETTINGS = '/etc/sluice'
const SECRET_SETTING = /^(login|metrics-token)$|\.key$|(^|-)key\.pem$/

/** @type {import('../finding.js').Check} */
export const modes = {
  name: 'modes',
  title: 'File modes',
  async find ({ userDir, dataDir, place: { root = '' }, user }) {
    if (process.platform === 'win32') return []
    const secrets = await matching(userDir, SECRET)
    const settings = await matching(join(root, SETTINGS), SECRET_SETTING)
    /** @type {Finding[]} */
    const found = []
    for (const path of [dataDir, ...secrets, ...settings]) {
      try {
        const { mode, uid } = await lstat(path)
        const isSetting = settings.includes(path) // which root may own, and a group read
        if (mode & (isSetting ? OTHERS : GROUP_AND_OTHERS)) found.push(readable(path))
        if (!isSetting && uid !== user.uid && user.uid !== 0) {
          const what = said`It does not belong to ${user.name}, who the gateway runs as.`
          found.push(problem(what, path, `sudo chown -R ${user.name}: '${userDir}'`))
        }
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') continue
        found.push(warning(said`Its mode cannot be read: ${describe(error)}.`, path,
          said`Run the doctor as the user of the gateway, or as root.`))
      }
    }
    if (found.length > 0) return found
    if (secrets.length === 0) return [note(said`There are no secrets yet.`, userDir)]
    return [ok(said`What holds secrets is for the gateway's user alone.`, userDir)]
  }
}

/** @param {string} path */
function readable (path) {
  return problem(said`Other users of this machine may read it.`, path, `chmod go= '${path}'`)
}

/** @param {string} folder @param {RegExp} names */
async function matching (folder, names) {
  const all = await readdir(folder).catch(() => [])
  return all.map(name => join(folder, name)).filter(path => names.test(basename(path)))
}
