import { SystemFiles } from '../../stats/monitor/system-files.js'

/** By how the kernel names them: what it tells of whether they rotate says nothing of these. @type {[RegExp, string][]} */
const BY_NAME = [
  [/^nvme/, 'NVMe SSD'],
  [/^mmcblk/, 'SD card or eMMC'],
  [/^(vd|xvd)/, 'virtual disk'],
  [/^(loop|ram|zram)/, 'disk in a file or in memory']
]

/**
 * What kind of disk a file system is on: undefined where it is on none, or the kernel does not tell.
 * @param {string} numbers  of its device, as 8:1
 * @param {SystemFiles} [files]
 * @returns {string|undefined}
 */
export function diskKind (numbers, files = new SystemFiles()) {
  const link = files.link(`/sys/dev/block/${numbers}`)
  if (!link) return undefined
  const isPartition = files.text(`/sys/dev/block/${numbers}/partition`) !== undefined
  const path = isPartition ? `/sys/dev/block/${numbers}/..` : `/sys/dev/block/${numbers}`
  const name = String(link.split('/').at(isPartition ? -2 : -1))
  const known = BY_NAME.find(([pattern]) => pattern.test(name))?.[1]
  const rotates = files.text(`${path}/queue/rotational`)?.trim()
  const kind = known ?? (rotates === undefined ? undefined : rotates === '0' ? 'SSD' : 'hard disk')
  const model = files.text(`${path}/device/model`)?.trim()
  return kind && model ? `${kind} (${model})` : kind
}
