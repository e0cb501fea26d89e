/**
 * What a Raspberry Pi's firmware reports of power and heat.
 *
 * @typedef {import('../monitor/system-files.js').SystemFiles} SystemFiles
 * @typedef {typeof REASONS[number]} Reason
 * @typedef {{now: Reason[], sinceStart: Reason[]}} Throttling  `sinceStart` has those that have ended, too
 */

const REASONS = /** @type {const} */ (['underVoltage', 'frequencyCapped', 'throttled', 'softTemperatureLimit'])
const FIRMWARE = '/sys/devices/platform/soc/soc:firmware/get_throttled'
/** From this bit on: what has happened since the start. */
const SINCE_START = 16

/**
 * By the firmware's own word where the kernel is the Raspberry Pi's, by the voltage alarm of its sensor where it is Debian's.
 * @param {SystemFiles} files
 * @returns {Throttling|undefined} undefined where nothing tells, as on other machines
 */
export function readThrottling (files) {
  const bits = Number.parseInt(files.text(FIRMWARE) ?? '', 16)
  if (!Number.isNaN(bits)) {
    const now = REASONS.filter((_, i) => bits >> i & 1)
    return { now, sinceStart: REASONS.filter((_, i) => (bits >> i | bits >> i + SINCE_START) & 1) }
  }
  const sensor = files.names('/sys/class/hwmon')?.find(name => files.text(`/sys/class/hwmon/${name}/name`)?.trim() === 'rpi_volt')
  if (sensor === undefined) return undefined
  const isLow = files.text(`/sys/class/hwmon/${sensor}/in0_lcrit_alarm`)?.trim() === '1'
  return { now: isLow ? ['underVoltage'] : [], sinceStart: isLow ? ['underVoltage'] : [] }
}
