/**
 * What the system has kept of the gateway's log, and of the kernel's what concerns a gateway.
 *
 * @typedef {import('../subject.js').Subject} Subject
 */

const UNIT = 'sluice.service'
const LINES = 2000
const KERNEL_LINES = 500
const CONCERNS = new RegExp([
  'mmc', '\\bsd[a-z]\\b', 'nvme', 'ext4', 'i/o error', 'remount', 'under-?voltage', 'throttl', 'thermal', 'out of memory', '\\boom',
  'killed process', '\\bcan\\d', 'tty(usb|acm|ama|s)', 'usb \\d', 'watchdog'
].join('|'), 'i')

/** @param {Subject} subject */
export async function gatewayLog ({ run }) {
  const text = await run('journalctl', ['--unit', UNIT, '--lines', String(LINES), '--output', 'short-iso', '--no-pager'])
  return text ?? `No journal is kept of ${UNIT} here, or not for this user: where the gateway's log goes to, its last lines would help.\n`
}

/** @param {Subject} subject */
export async function kernelLog ({ run }) {
  const text = await run('journalctl', ['--dmesg', '--output', 'short-iso', '--no-pager']) ?? await run('dmesg', [])
  if (text === null) return 'The kernel\'s log may not be read by this user.\n'
  return `${text.split('\n').filter(line => CONCERNS.test(line)).slice(-KERNEL_LINES).join('\n')}\n`
}
