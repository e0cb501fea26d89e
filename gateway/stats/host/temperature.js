/** Zones of the processor, by the names that drivers give them. */
const PROCESSOR = /cpu|soc|pkg|k10temp/i

/**
 * Of the processor, at its hottest; of whatever else tells one, where no zone is the processor's.
 * @param {import('../monitor/system-files.js').SystemFiles} files
 * @returns {number|undefined} °C
 */
export function readTemperature (files) {
  const folder = '/sys/class/thermal'
  const zones = (files.names(folder) ?? []).filter(name => name.startsWith('thermal_zone')).map(name => ({
    type: files.text(`${folder}/${name}/type`)?.trim() ?? '',
    celsius: Number.parseInt(files.text(`${folder}/${name}/temp`) ?? '', 10) / 1000
  })).filter(({ celsius }) => !Number.isNaN(celsius))
  const own = zones.filter(({ type }) => PROCESSOR.test(type))
  const [...temperatures] = (own.length > 0 ? own : zones).map(({ celsius }) => celsius)
  return temperatures.length > 0 ? Math.max(...temperatures) : undefined
}
