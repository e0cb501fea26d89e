import { open } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { schemaOf } from '../../nodes/schemas.js'
import { describe, SluiceError } from '../base/errors.js'
import { bundleOf } from '../doctor/bundle/bundle.js'
import { examine } from '../doctor/examine.js'
import { asJson, asText, reportOf } from '../doctor/report.js'
import { Subject } from '../doctor/subject.js'
import { nodeRedVersion } from '../run/node-red.js'

const USAGE = `Usage: sluice doctor [--user-dir DIR] [--flows FILE] [--port N] [--json] [--bundle FILE]

Checks what goes wrong in the field: brokers, databases, spools, disk, clock, memory, ports, serial lines, CAN, file modes, versions.
It disturbs no gateway that runs, and needs none. Run it as the user of the gateway, or as root.

  --user-dir DIR    where the gateway keeps its data (default .sluice; /var/lib/sluice where there is none and a package made that)
  --flows FILE, --port N
                    the flow and the port of the editor (default: those of the gateway that runs, or the user folder's own and 1880)
  --json            prints the report as JSON
  --bundle FILE     writes what others need to help as a .tar.gz: the findings, versions, the flow, logs, names and sizes of spool files.
                    Passwords are removed as far as they can be recognised; look through it before you pass it on

Exit status: 0 nothing is wrong, but for warnings; 1 there are problems; 2 for wrong arguments, or a bundle that could not be written.
`

/** Where packages and the image keep it. */
const INSTALLED = '/var/lib/sluice'

/** @typedef {{userDir: string, flows?: string, port?: number, json: boolean, bundle?: string, help: boolean}} Options */

/** @type {import('./sluice.js').Command} */
export async function doctor (args, { stdout, stderr }) {
  let options
  try {
    options = readArguments(args)
  } catch (error) {
    stderr.write(`sluice doctor: ${error instanceof Error ? error.message : error}\n\n${USAGE}`)
    return 2
  }
  if (options.help) {
    stdout.write(USAGE)
    return 0
  }
  try {
    return await examineAll(options, stdout, stderr)
  } catch (error) {
    stderr.write(`sluice doctor: ${describe(error)}\n`)
    return 2
  }
}

/** @param {string[]} args @returns {Options} */
function readArguments (args) {
  const { values } = parseArgs({
    args,
    options: {
      'user-dir': { type: 'string', default: existsSync(INSTALLED) && !existsSync('.sluice') ? INSTALLED : '.sluice' },
      flows: { type: 'string' },
      port: { type: 'string' },
      json: { type: 'boolean', default: false },
      bundle: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false }
    }
  })
  const { 'user-dir': userDir, flows, json, bundle, help } = values
  if (!/^\d{1,5}$/.test(values.port ?? '0')) throw new Error(`--port must be a number; it is "${values.port}"`)
  if (bundle !== undefined && !/\.(tar\.gz|tgz)$/.test(bundle)) throw new Error('the name of the bundle must end in .tar.gz')
  return { userDir: resolve(userDir), flows, port: values.port === undefined ? undefined : Number(values.port), json, bundle, help }
}

/** @param {Options} options @param {NodeJS.WritableStream} stdout @param {NodeJS.WritableStream} stderr */
async function examineAll ({ userDir, flows, port, json, bundle }, stdout, stderr) {
  const subject = new Subject({ userDir, flowFile: flows && resolve(flows), schemaOf, nodeRed: nodeRedVersion(), port })
  const examinations = examine(subject)
  const isTerminal = (/** @type {NodeJS.WritableStream} */ stream) => /** @type {{isTTY?: boolean}} */ (stream).isTTY === true
  const stopShowing = isTerminal(stderr) ? showProgress(examinations, stderr) : () => {}
  const report = await reportOf(subject, examinations)
  stopShowing()
  const isColoured = isTerminal(stdout) && process.env.NO_COLOR === undefined
  stdout.write(json ? `${asJson(report)}\n` : asText(report, { isColoured }))
  if (bundle !== undefined) {
    await write(bundle, await bundleOf(subject, report))
    stderr.write(`Written: ${bundle}. Look through it before you pass it on.\n`)
  }
  return report.ok ? 0 : 1
}

/**
 * One line that says what is still being checked.
 * @param {import('../doctor/examine.js').Examination[]} examinations
 * @param {NodeJS.WritableStream} stderr
 */
function showProgress (examinations, stderr) {
  const pending = new Set(examinations.map(({ title }) => title))
  const show = () => stderr.write(`\r\u001b[K${pending.size > 0 ? `Checking: ${[...pending].join(', ').slice(0, 70)} …` : ''}`)
  show()
  for (const { title, findings } of examinations) findings.then(() => pending.delete(title) && show())
  return () => stderr.write('\r\u001b[K')
}

/** For its owner alone: what nobody recognised as a secret is in it. @param {string} path @param {Buffer} bytes */
async function write (path, bytes) {
  try {
    const file = await open(path, 'w', 0o600)
    await file.writeFile(bytes)
    await file.close()
  } catch (cause) {
    throw new SluiceError('SLUICE_DOCTOR_BUNDLE', `The bundle cannot be written to ${path}: ${describe(cause)}.`, {
      cause, fix: 'Name a file in a folder that you may write, on a disk with room.'
    })
  }
}
