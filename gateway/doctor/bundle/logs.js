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
  const lines = linesOf(await run('journalctl', ['--unit', UNIT, '--lines', String(LINES), '--output', 'short-iso', '--no-pager']))
  return textOf(lines) ?? `No journal of ${UNIT} is kept here, or this user may not read it: its last lines, from elsewhere, would help.\n`
}

/** From the journal, or else from the kernel itself. @param {Subject} subject */
export async function kernelLog ({ run }) {
  for (const [program, ...args] of [['journalctl', '--dmesg', '--output', 'short-iso', '--no-pager'], ['dmesg']]) {
    const text = textOf(linesOf(await run(program, args)).filter(line => CONCERNS.test(line)).slice(-KERNEL_LINES))
    if (text) return text
  }
  return 'The kernel has said nothing that concerns a gateway, or its log may not be read by this user.\n'
}

/** Without what journalctl says of itself. @param {string|null} text */
function linesOf (text) {
  return (text ?? '').split('\n').filter(line => line !== '' && !line.startsWith('-- '))
}

/** @param {string[]} lines */
function textOf (lines) {
  return lines.length > 0 ? `${lines.join('\n')}\n` : undefined
}
