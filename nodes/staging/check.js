/**
 * Tries once for all nodes that refer to a config node, when the first of them has connected, what about its broker breaks the promise, and
 * reports that in the log.
 * @param {import('../node.js').Node} node  the config node
 * @param {() => Promise<import('../../broker/preflight/finding.js').Report>} preflight
 * @returns {Promise<string|null>} what breaks the promise, in short
 */
export function checkOnce (node, preflight) {
  node.checked ??= check(node, preflight)
  return node.checked
}

/** @type {typeof checkOnce} */
async function check (node, preflight) {
  const { broker, findings } = await preflight()
  if (broker === null) {
    node.checked = undefined // it went away meanwhile: the next to connect asks again
    return null
  }
  for (const { level, text, fix } of findings) {
    if (level !== 'info') node.warn(`${text} ${fix}`.trim())
  }
  const failures = findings.filter(({ level }) => level === 'error')
  const errors = failures.filter(({ code }) => code !== 'not-checked') // a busy broker has no flaw: the next to connect asks again
  if (errors.length < failures.length) node.checked = undefined
  return errors.length > 0 ? `the broker breaks the promise: ${errors.map(({ code }) => code).join(', ')}` : null
}
