/**
 * Which part of a split message this is (Node-RED's split node sets `msg.parts`), or null of a whole one.
 * @param {{parts?: any}} message
 * @returns {import('./attempt.js').Piece['part']}
 */
export function partOf ({ parts }) {
  const isPart = typeof parts?.id === 'string' && Number.isInteger(parts.index) && Number.isInteger(parts.count)
  return isPart ? { id: parts.id, index: parts.index, count: parts.count } : null
}
