/**
 * The nodes that do nothing: those that Node-RED has not made, and those that could not start or have ended with an error.
 * @param {import('./stats.js').Stats} stats
 * @param {Record<string, import('./reader.js').Gauge>} gauges  as read now
 * @returns {{name: string, nodeId?: string, problem: string}[]}
 */
export function failedNodes (stats, gauges) {
  const failed = Object.entries(gauges).filter(([key]) => key.startsWith('failed ')).map(([key, { problem }]) => {
    const nodeId = stats.nodeOf(key)
    return { name: key.slice('failed '.length).replace(` (${nodeId})`, ''), nodeId, problem: String(problem ?? '') }
  })
  const unstarted = stats.unstarted.map(({ id, type, name, problem }) => {
    return { name: name || `${type.replace(/^sluice-/, '')} ${id}`, nodeId: id, problem }
  })
  return [...unstarted, ...failed]
}
