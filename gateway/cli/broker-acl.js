import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readAccount, readGrant } from '../../broker/access/accounts.js'
import { writeAccounts } from '../../broker/access/files.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { SluiceError, describe } from '../base/errors.js'

const USAGE = `Usage: sluice broker-acl NAME:ROLE… [--allow 'NAME read|write|readwrite TOPIC']… [--password-file NAME=FILE]… [--out DIR]
                         [--user-dir DIR]

Writes the users of a Mosquitto, and what each may do there: sluice.passwords and sluice.acl. Give all of them: an account that is not
named is removed, one that has a password already keeps it, and the others get one, which is shown this once. Delete an account's line in
sluice.passwords to give it a new one.

ROLE is
  gateway          stages, and stores what it has staged itself. NAME is its id: the file gateway-id of its data folder, or
                   "self" for that of --user-dir
  consumer         a gateway that stores what others stage, too
  consumer/GROUP   likewise, and its stage in nodes have that group
  reader           reads along
  other            only what --allow grants

  --allow          grants topics outside of sluice/v2, such as 'telegraf write telegraf/#' and, to the gateway that is to store them,
                   'gw-a1b2c3d4 read telegraf/#'; Sparkplug is spBv1.0/#
  --password-file  the account's password is what is in the file, now and whenever that is changed, instead of a random one
  --out DIR        where to write the files (default: here)
  --user-dir DIR   the data folder of the gateway "self"; an id is made where it has none (default .sluice)
`

/** How this machine's gateway is named before its id is known. */
const SELF = /^self(?=[:= ])/

/** @type {import('./sluice.js').Command} */
export async function brokerAcl (args, { stdout, stderr }) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        allow: { type: 'string', multiple: true, default: [] },
        'password-file': { type: 'string', multiple: true, default: [] },
        out: { type: 'string', default: '.' },
        'user-dir': { type: 'string', default: '.sluice' },
        help: { type: 'boolean', short: 'h', default: false }
      }
    })
    if (values.help) {
      stdout.write(USAGE)
      return 0
    }
    const given = [...positionals, ...values.allow, ...values['password-file']]
    const own = given.some(text => SELF.test(text)) ? await gatewayId(join(resolve(values['user-dir']), 'sluice')) : ''
    const named = (/** @type {string} */ text) => text.replace(SELF, own)
    const accounts = positionals.map(text => readAccount(named(text)))
    const names = accounts.map(({ name }) => name)
    const twice = names.find((name, i) => names.indexOf(name) !== i)
    if (accounts.length === 0 || twice !== undefined) {
      throw new SluiceError('SLUICE_USAGE', twice === undefined ? 'No accounts are given.' : `The account ${twice} is given twice.`, {
        fix: 'See sluice broker-acl --help.'
      })
    }
    const grants = values.allow.map(text => readGrant(named(text), accounts))
    const passwords = await Promise.all(values['password-file'].map(text => readPassword(named(text), names)))
    stdout.write(await write(resolve(values.out), accounts, grants, new Map(passwords)))
    return 0
  } catch (error) {
    stderr.write(`sluice broker-acl: ${describe(error)}\n`)
    return error instanceof SluiceError || /** @type {any} */ (error).code?.startsWith('ERR_PARSE_ARGS') ? 2 : 1
  }
}

/** @param {string} text  `NAME=FILE` @param {string[]} names  of accounts @returns {Promise<[name: string, password: string]>} */
async function readPassword (text, names) {
  const [, name, file] = /^([^=]+)=(.+)$/.exec(text) ?? []
  const refused = (/** @type {string} */ why) =>
    new SluiceError('SLUICE_USAGE', `--password-file ${text}: ${why}.`, { fix: 'Write NAME=FILE, for one of the accounts.' })
  if (!names.includes(name)) throw refused('that is not of an account')
  const password = (await readFile(file, 'utf8').catch(cause => { throw refused(describe(cause)) })).trim()
  if (password === '') throw refused('the file is empty')
  return [name, password]
}

/**
 * @param {string} folder
 * @param {import('../../broker/access/accounts.js').Account[]} accounts
 * @param {import('../../broker/access/accounts.js').Grant[]} grants
 * @param {Map<string, string>} given  passwords, by account
 * @returns {Promise<string>} what to tell
 */
async function write (folder, accounts, grants, given) {
  const { made, removed } = await writeAccounts(folder, accounts, grants, given)
  const width = Math.max(...made.map(({ name }) => name.length))
  return [
    ...(made.length > 0 ? ['Passwords, which are shown only now:'] : ['No password is new.']),
    ...made.map(({ name, password }) => `  ${name.padEnd(width)}  ${password}`),
    ...(removed.length > 0 ? [`Removed: ${removed.join(', ')}`] : []),
    '',
    'For mosquitto.conf; the user that Mosquitto runs as must be able to read both files (chown mosquitto), and to have them read again it',
    'needs a SIGHUP:',
    '  allow_anonymous false',
    `  password_file ${join(folder, 'sluice.passwords')}`,
    `  acl_file ${join(folder, 'sluice.acl')}`,
    ''
  ].join('\n')
}
