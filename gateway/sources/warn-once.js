/**
 * Logs the first warning of each kind, so that a bad file is a few lines of log.
 * @param {import('../base/log.js').Log} log
 * @returns {(kind: string, text: string) => void}
 */
export function warnerOnce (log) {
  const warned = new Set()
  return (kind, text) => {
    if (warned.has(kind)) return
    warned.add(kind)
    log.warn(text)
  }
}
