/** "0.5 of a core and 512 MiB". @param {import('./limit.js').Bounds} bounds */
export function boundsText ({ cores, memoryBytes }) {
  const parts = [
    cores === undefined ? '' : cores < 1 ? `${cores} of a core` : cores === 1 ? 'one core' : `${cores} cores`,
    memoryBytes === undefined ? '' : `${Math.round(memoryBytes / 2 ** 20)} MiB of memory`
  ]
  return parts.filter(Boolean).join(' and ')
}
