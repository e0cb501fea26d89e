import { parseArgs } from 'node:util'
import { describe } from '../base/errors.js'
import { startGateway } from '../run/start.js'

const USAGE = `Usage: sluice start [--flows FILE] [--user-dir DIR] [--port N]

Runs Node-RED with the Sluice nodes on this machine, until Ctrl-C.

  --flows FILE     the flow to run and edit, instead of the user folder's own
  --user-dir DIR   where flows, spools, databases and credentials are kept (default .sluice)
  --port N         of the editor and the live page (default 1880; 0 takes any that is free)
`

/** @type {import('./sluice.js').Command} */
export async function start (args, { stdout, stderr }) {
  const options = readArgs(args)
  if (typeof options === 'string') {
    stderr.write(`sluice start: ${options}\n\n${USAGE}`)
    return 2
  }
  if (options.help) {
    stdout.write(USAGE)
    return 0
  }
  const interrupted = firstSignal(() => stderr.write('Stopping: what is on its way is being stored. Ctrl-C again to stop at once.\n'))
  let gateway
  try {
    gateway = await startGateway({ ...options, log: line => stderr.write(`${line}\n`) })
  } catch (error) {
    stderr.write(`sluice start: ${describe(error)}\n`)
    return 1
  }
  const places = `  Editor     ${gateway.editorUrl}\n  Live page  ${gateway.liveUrl}\n  Data       ${options.userDir}\n`
  stdout.write(`Sluice is running.\n${places}Ctrl-C stops it.\n`)
  await interrupted
  const drained = await gateway.stop()
  const rest = ' Not everything could be stored in 15 s; the rest is in the spool and goes on at the next start.'
  stderr.write(`Stopped.${drained ? '' : rest}\n`)
  return 0
}

/**
 * @param {string[]} args
 * @returns {{help?: boolean, userDir: string, port: number, flowFile?: string}|string} a string says what is wrong
 */
function readArgs (args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        flows: { type: 'string' },
        'user-dir': { type: 'string', default: '.sluice' },
        port: { type: 'string', default: '1880' },
        help: { type: 'boolean', short: 'h' }
      }
    })
    const port = Number(values.port)
    if (!/^\d+$/.test(values.port) || port > 65535) return `--port must be a number from 0 to 65535; it is "${values.port}".`
    return { help: values.help, userDir: values['user-dir'], port, flowFile: values.flows }
  } catch (error) {
    return /** @type {Error} */ (error).message
  }
}

/** Resolves at the first Ctrl-C or SIGTERM; the second ends the process. @param {() => void} onFirst */
function firstSignal (onFirst) {
  return new Promise(resolve => {
    let count = 0
    const stop = () => {
      if (++count > 1) process.exit(130)
      onFirst()
      resolve(undefined)
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}
