import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { parseArgs, promisify } from 'node:util'
import { describe, SluiceError } from '../base/errors.js'
import { firstBoot } from '../first-boot/first-boot.js'

const USAGE = `Usage: sluice first-boot [--boot DIR] [--root DIR]

Sets this machine up as sluice.toml on its boot partition says, and sees to it that the editor has a login and a certificate: at each
start, before all else. It needs root. What it has done and what is wrong is in sluice-first-boot.txt there; it ends with 1 when
something is.

  --boot DIR   the boot partition (default /boot/firmware)
  --root DIR   writes all files below DIR, and runs none of the programs below: to try it, or to prepare an image (default /)

Files: /etc (host name, time zone, time servers, SSH keys, systemd-networkd, wpa_supplicant, Mosquitto, settings of the firmware),
/opt/sluice/first-boot (certificate, accounts of Mosquitto), /var/lib/sluice (users, flow), config.txt and cmdline.txt beside
sluice.toml.

Programs, each only when what it concerns has changed, or it did not end the last time:
  hostname NAME                           the name is another
  systemctl enable|disable wpa_supplicant Wi-Fi is set up or taken away
  udevadm control, udevadm trigger        the queue of a CAN interface has another length
  chown                                   files for the users sluice and mosquitto
  systemctl reboot                        once, after config.txt or cmdline.txt have changed
  openssl req                             makes the certificate, in a temporary folder; also with --root
`
const PATIENCE_MS = 60_000

/** @type {import('./sluice.js').Command} */
export async function firstBootCommand (args, { stdout, stderr }) {
  let values
  try {
    ({ values } = parseArgs({
      args,
      options: {
        boot: { type: 'string', default: '/boot/firmware' },
        root: { type: 'string', default: '/' },
        help: { type: 'boolean', short: 'h' }
      }
    }))
  } catch (error) {
    stderr.write(`sluice first-boot: ${describe(error)}\n\n${USAGE}`)
    return 2
  }
  if (values.help) {
    stdout.write(USAGE)
    return 0
  }
  const { boot, root } = values
  const run = root === '/'
    ? runHere
    : async (/** @type {string[]} */ ...command) => { stderr.write(`Not run: ${command.join(' ')}\n`) }
  const { text, secret, isRight } = await firstBoot({ boot, root, run })
  stdout.write(text)
  // What is written to stdout is in the journal, too, where the password must not be.
  if (root === '/') await writeFile('/dev/console', secret.replaceAll('\n', '\r\n')).catch(() => {}) // a container has none
  return isRight ? 0 : 1
}

/** A program that hangs must not keep the machine from starting. @type {import('../first-boot/host.js').Run} */
async function runHere (program, ...args) {
  try {
    await promisify(execFile)(program, args, { timeout: PATIENCE_MS })
  } catch (cause) {
    throw new SluiceError('SLUICE_FIRST_BOOT', `${program} has failed: ${describe(cause)}`, {
      fix: 'What it is for may hold after the next start.', cause
    })
  }
}
