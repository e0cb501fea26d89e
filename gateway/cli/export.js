import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readCredentials } from '../base/credentials.js'
import { SluiceError, describe } from '../base/errors.js'
import { filesOf, writeBundle } from '../fleet/bundle.js'
import { secretsOf } from '../fleet/secrets.js'

const USAGE = `Usage: sluice export DIR [--user-dir DIR] [--flows FILE]

Writes what makes this gateway what it is into a folder: a file for each tab of the flow, its servers, and the files that it reads, such as
DBC files. It is made for version control: the same flow gives the same files. Passwords are not among them: secrets.json names the
variable for each, secrets.example has all of these. sluice apply makes other gateways the same. The gateway may run.

  --user-dir DIR   where the gateway keeps its data (default .sluice)
  --flows FILE     its flow, where that is elsewhere
`

/** @type {import('./sluice.js').Command} */
export async function exportBundle (args, { stdout, stderr }) {
  let options
  try {
    options = parseArgs({
      args,
      allowPositionals: true,
      options: {
        'user-dir': { type: 'string', default: '.sluice' },
        flows: { type: 'string' },
        help: { type: 'boolean', short: 'h' }
      }
    })
    if (!options.values.help && options.positionals.length !== 1) throw new Error('it takes one folder')
  } catch (error) {
    stderr.write(`sluice export: ${describe(error)}\n\n${USAGE}`)
    return 2
  }
  const { values: { 'user-dir': userDir, flows, help }, positionals: [folder] } = options
  if (help) {
    stdout.write(USAGE)
    return 0
  }
  try {
    const flowFile = resolve(flows ?? join(userDir, 'flows.json'))
    if (!existsSync(flowFile)) {
      const fix = 'Give the --user-dir or --flows of the gateway.'
      throw new SluiceError('SLUICE_FLOW_FILE', `There is no flow file ${flowFile}.`, { fix })
    }
    const nodes = JSON.parse(readFileSync(flowFile, 'utf8'))
    const secrets = secretsOf(nodes, readCredentials(resolve(userDir), flowFile))
    const { files, elsewhere } = filesOf(nodes, userDir)
    await writeBundle(resolve(folder), { nodes, secrets, files, elsewhere })
    const counts = [[nodes.length, 'nodes'], [files.size, 'files'], [Object.keys(secrets).length, 'nodes with secrets']]
    stdout.write(`Exported to ${folder}: ${counts.map(([count, what]) => `${count} ${what}`).join(', ')}.\n`)
    for (const path of elsewhere) stderr.write(`Not exported, as it is not in the data folder: ${path}\n`)
    return 0
  } catch (error) {
    stderr.write(`sluice export: ${describe(error)}\n`)
    return 1
  }
}
