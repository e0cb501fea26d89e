import { SluiceError } from '../base/errors.js'

/**
 * What the firmware of a Raspberry Pi reads from the FAT partition before anything else runs. Debian makes both files anew at each update
 * of the kernel, from what is in /etc/default.
 *
 * @typedef {import('./host.js').Host} Host
 * @typedef {import('./toml.js').Part} Part
 */

const BEGIN = '# sluice.toml begins: what is changed here is undone at the next start.'
const END = '# sluice.toml ends.'
const BLOCK = new RegExp(`\\n?${BEGIN}[^]*${END}\\n`)
const CUSTOM = '/etc/default/raspi-firmware-custom'
const DEFAULTS = '/etc/default/raspi-firmware'
/** As Debian's kernel calls the port on the pin header. */
const SERIAL = 'ttyS1,115200'

/**
 * Lines of config.txt: those of [system], and what the CAN controllers need.
 * @param {Host} host
 * @param {string[]} wanted
 * @param {Part[]} can
 */
export async function setConfig ({ root, boot, needsRestart, wrong, done }, wanted, can) {
  const lines = [...wanted]
  for (const { values: { controller, chip_select: select, oscillator_hz: hertz, interrupt_gpio: gpio } } of can) {
    if (!controller) continue
    const name = `${controller}-can${select}`
    if (await boot.readIfThere(`overlays/${name}.dtbo`) === null) wrong(missingOverlay(name))
    else lines.push(`dtoverlay=${name},oscillator=${hertz},interrupt=${gpio}`)
  }
  const block = lines.length > 0 ? `${BEGIN}\n[all]\n${lines.join('\n')}\n${END}\n` : ''
  await replaceBlock(root, CUSTOM, block)
  if (await replaceBlock(boot, 'config.txt', block)) needsRestart()
  for (const line of lines) done(`config.txt: ${line}`)
}

/** Takes the console from the serial port, or gives it back. @param {Host} host @param {Part|undefined} part */
export async function setSerial ({ root, boot, needsRestart, done }, part) {
  if (!part) return
  const defaults = await root.read(DEFAULTS)
  const consoles = part.values.console ? `${SERIAL} tty0` : 'tty0'
  await root.write(DEFAULTS, `${defaults.replace(/^CONSOLES=.*\n?/m, '')}CONSOLES="${consoles}"\n`)
  const words = (await boot.read('cmdline.txt')).trim().split(/\s+/)
  const others = words.filter(word => !/^console=(serial|ttyS|ttyAMA)\d*(,|$)/.test(word))
  const isThere = others.length < words.length
  const wanted = part.values.console ? isThere ? words : [`console=${SERIAL}`, ...others] : others
  if (await boot.write('cmdline.txt', `${wanted.join(' ')}\n`)) needsRestart()
  done(`Serial port on the pin header: ${part.values.console ? 'console' : 'free'}`)
}

/** @param {import('./host.js').Files} files @param {string} path @param {string} block */
async function replaceBlock (files, path, block) {
  const text = await files.read(path)
  const rest = text.replace(BLOCK, '')
  if (block === '' && rest === text) return false
  return files.write(path, `${rest}${block && rest ? '\n' : ''}${block}`)
}

/** @param {string} name */
function missingOverlay (name) {
  return new SluiceError('SLUICE_FIRST_BOOT', `The boot partition has no overlays/${name}.dtbo, so that CAN interface will be missing.`, {
    fix: 'Copy the file from the image to the folder overlays there. Those of Raspberry Pi do not fit the device trees of Debian.'
  })
}
