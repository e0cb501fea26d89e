import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readAccount, readGrant } from '../../broker/access/accounts.js'
import { writeAccounts } from '../../broker/access/files.js'
import { SluiceError, describe } from '../base/errors.js'

const USAGE = `Usage: sluice broker-acl NAME:ROLE… [--allow 'NAME read|write|readwrite TOPIC']… [--out DIR]

Writes the users of a Mosquitto, and what each may do there: sluice.passwords and sluice.acl. Give all of them: an account that is not
named is removed, one that has a password already keeps it, and the others get one, which is shown this once. Delete an account's line in
sluice.passwords to give it a new one.

ROLE is
  gateway          stages, and stores what it has staged itself. NAME is its id: the file gateway-id of its data folder
  consumer         a gateway that stores what others stage, too
  consumer/GROUP   likewise, and its stage in nodes have that group
  reader           reads along
  other            only what --allow grants

  --allow          grants topics outside of sluice/v2, such as 'telegraf write telegraf/#' and, to the gateway that is to store them,
                   'gw-a1b2c3d4 read telegraf/#'; Sparkplug is spBv1.0/#
  --out DIR        where to write the files (default: here)
`

/** @type {import('./sluice.js').Command} */
export async function brokerAcl (args, { stdout, stderr }) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        allow: { type: 'string', multiple: true, default: [] },
        out: { type: 'string', default: '.' },
        help: { type: 'boolean', short: 'h', default: false }
      }
    })
    if (values.help) {
      stdout.write(USAGE)
      return 0
    }
    const accounts = positionals.map(readAccount)
    const names = accounts.map(({ name }) => name)
    const twice = names.find((name, i) => names.indexOf(name) !== i)
    if (accounts.length === 0 || twice !== undefined) {
      throw new SluiceError('SLUICE_USAGE', twice === undefined ? 'No accounts are given.' : `The account ${twice} is given twice.`, {
        fix: 'See sluice broker-acl --help.'
      })
    }
    const grants = values.allow.map(text => readGrant(text, accounts))
    stdout.write(await write(resolve(values.out), accounts, grants))
    return 0
  } catch (error) {
    stderr.write(`sluice broker-acl: ${describe(error)}\n`)
    return error instanceof SluiceError || /** @type {any} */ (error).code?.startsWith('ERR_PARSE_ARGS') ? 2 : 1
  }
}

/**
 * @param {string} folder
 * @param {import('../../broker/access/accounts.js').Account[]} accounts
 * @param {import('../../broker/access/accounts.js').Grant[]} grants
 * @returns {Promise<string>} what to tell
 */
async function write (folder, accounts, grants) {
  const { made, removed } = await writeAccounts(folder, accounts, grants)
  const width = Math.max(...made.map(({ name }) => name.length))
  return [
    ...(made.length > 0 ? ['Passwords, which are shown only now:'] : ['All accounts keep their passwords.']),
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
