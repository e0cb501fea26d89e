import { parseArgs } from 'node:util'

export const USAGE = `Usage: npm run image -- [--payload FILE] [--out FILE]
       npm run image -- --boot-test [--machine virt|raspi3b] [--memory MIB] [--out FILE]
       npm run image -- --update-test [--payload FILE] [--memory MIB] [--out FILE]
       npm run image -- --hard-stops N [--read-only-root] | --power-cuts N [--memory MIB] [--out FILE]

Builds a card for a Raspberry Pi, or tries the one that is there in an emulator.

  --payload FILE   the release for arm64 (default: the newest in dist/)
  --out FILE       the card (default dist/sluice-raspberry-pi.img)
  --boot-test      starts it: from power-on to login and editor, the login, CAN frames to rows, SocketCAN's tests
  --machine NAME   virt, or raspi3b with the kernel and device tree of the card (default virt)
  --memory MIB     of virt (default 1024)
  --update-test    updates it, while frames flow, to a later release than it has, and to one that does not start
  --hard-stops N   kills the emulator N times while frames flow, and compares the rows with the frames
  --read-only-root the root is to be read-only, which it is from the third start on
  --power-cuts N   the same as hard stops, and what the card had not been told to flush is lost as well
`

/** @typedef {'build'|'boot-test'|'update-test'|'hard-stops'|'power-cuts'} Task */

/**
 * @param {string[]} args
 * @returns {{help: boolean, task: Task, times: number, payload?: string, out: string, machine: 'virt'|'raspi3b', memoryMib: number,
 *   isRootReadOnly: boolean}}
 * @throws {Error} in a sentence
 */
export function readOptions (args) {
  const { values } = parseArgs({
    args,
    options: {
      payload: { type: 'string' },
      out: { type: 'string', default: 'dist/sluice-raspberry-pi.img' },
      'boot-test': { type: 'boolean' },
      'update-test': { type: 'boolean' },
      machine: { type: 'string', default: 'virt' },
      memory: { type: 'string', default: '1024' },
      'hard-stops': { type: 'string' },
      'power-cuts': { type: 'string' },
      'read-only-root': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false }
    }
  })
  const tasks = /** @type {const} */ (['boot-test', 'update-test', 'hard-stops', 'power-cuts']).filter(name => values[name] !== undefined)
  if (tasks.length > 1) throw new Error(`--${tasks[0]} and --${tasks[1]} exclude each other.`)
  const { machine } = values
  if (machine !== 'virt' && machine !== 'raspi3b') throw new Error(`--machine is virt or raspi3b, not "${machine}".`)
  const [task = 'build'] = tasks
  return {
    help: values.help,
    task,
    times: task === 'hard-stops' || task === 'power-cuts' ? wholeNumber(`--${task}`, values[task]) : 0,
    payload: values.payload,
    out: values.out,
    machine,
    memoryMib: wholeNumber('--memory', values.memory),
    isRootReadOnly: values['read-only-root']
  }
}

/** @param {string} name @param {string|undefined} text */
function wholeNumber (name, text = '') {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`${name} must be a whole number above 0; it is "${text}".`)
  return Number(text)
}
