import { parseArgs } from 'node:util'
import { describe } from '../base/errors.js'
import { apply } from '../fleet/apply.js'
import { isNothing, linesOf } from '../fleet/changes.js'

const USAGE = `Usage: sluice apply DIR [--user-dir DIR] [--flows FILE] [--secrets FILE] [--dry-run] [--overwrite]
                    [--url URL [--user NAME --password-env VARIABLE]]

Makes this gateway what a folder of sluice export says, and prints what that changes; where it is so already, nothing. All is checked before
anything is changed. The gateway's id, its spools, its users, and secrets that it has stay its own.

Without --url the gateway must be stopped. With it, it goes on running, and only what has changed starts anew.

  --user-dir DIR   where the gateway keeps its data (default .sluice); run this as the user that the gateway runs as
  --flows FILE     its flow, where that is elsewhere
  --secrets FILE   lines NAME=value, as in secrets.example; the environment may have NAME, or NAME_FILE for a file with the value
  --dry-run        changes nothing, and prints the values that would change, but no secrets
  --overwrite      also when somebody has edited the flow since the last apply
  --url URL        of the editor of the running gateway
  --user NAME, --password-env VARIABLE
                   a user of it with the role change; the password is read from that environment variable

Exit status: 0; 1 when it was refused or failed; 2 for wrong arguments; 3 with --dry-run when something would change.
`
const WOULD_CHANGE = 3

/** @type {import('./sluice.js').Command} */
export async function applyBundle (args, { stdout, stderr }) {
  let options
  try {
    options = readArguments(args)
  } catch (error) {
    stderr.write(`sluice apply: ${describe(error)}\n\n${USAGE}`)
    return 2
  }
  if (options === null) {
    stdout.write(USAGE)
    return 0
  }
  try {
    const { changes, warnings } = await apply(options)
    for (const warning of warnings) stderr.write(`Warning: ${warning}\n`)
    if (isNothing(changes)) {
      stdout.write('Nothing to change.\n')
      return 0
    }
    const lines = [...linesOf(changes, { hasValues: options.isTrial }), options.isTrial ? 'Nothing was changed.' : 'Applied.']
    stdout.write(lines.map(line => `${line}\n`).join(''))
    return options.isTrial ? WOULD_CHANGE : 0
  } catch (error) {
    stderr.write(`sluice apply: ${describe(error)}\n`)
    return 1
  }
}

/** @param {string[]} args @returns {import('../fleet/apply.js').ApplyOptions & {isTrial: boolean}|null} null to be told how */
function readArguments (args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'user-dir': { type: 'string', default: '.sluice' },
      flows: { type: 'string' },
      secrets: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      overwrite: { type: 'boolean', default: false },
      url: { type: 'string' },
      user: { type: 'string' },
      'password-env': { type: 'string' },
      help: { type: 'boolean', short: 'h' }
    }
  })
  if (values.help) return null
  if (positionals.length !== 1) throw new Error('it takes one folder')
  if (values.url !== undefined && !URL.canParse(values.url)) throw new Error(`--url is none: ${values.url}`)
  const password = values['password-env'] && process.env[values['password-env']]
  return {
    folder: positionals[0],
    userDir: values['user-dir'],
    flowFile: values.flows,
    url: values.url,
    login: { user: values.user, password },
    secretsFile: values.secrets,
    isTrial: values['dry-run'],
    isOverwriting: values.overwrite
  }
}
