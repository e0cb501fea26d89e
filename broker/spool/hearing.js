/**
 * @typedef {{source: string, rows: number, epochs: {epoch: string, first: number, last: number, before: number, rows: number}[],
 *   lost?: number, dropped?: number, replaced?: number}} HeardSource
 * @typedef {{sources: HeardSource[]}} HeardHead
 * @typedef {import('./sources.js').Source} Source
 * @typedef {import('./stream.js').Stream} Stream
 * @typedef {{source: Source, stream: Stream|null, batches: number, rows: number}} Heard  lost batches and rows; the present stream, where
 *   somebody else has gone on with it
 */

/**
 * Compares a head that was published before with what is here. An earlier epoch that is ahead had a tail, which a power cut took; the
 * present one that is ahead was continued by another: this is a copy, or was set back. Either way rows are counted on by the difference:
 * that of a head which an earlier run has published to what was recovered, since what was produced meanwhile is not in it. Lost is what
 * that run still held: before, the sinks had stored it.
 * @param {HeardHead} head
 * @param {import('./sources.js').Sources} sources
 * @returns {Heard[]}
 */
export function hear (head, sources) {
  return head.sources.filter(({ source, rows }) => !isAtRest(sources, source, rows)).map(({ source: name, rows, epochs }) => {
    const source = sources.recover(name)
    const isOfThisRun = epochs.some(({ epoch }) => sources.begun.has(epoch))
    const known = isOfThisRun ? source.rows : source.recoveredRows
    const more = Math.max(0, rows - known)
    const held = rows - Math.min(rows, ...epochs.map(({ before }) => before))
    /** @type {Heard} */
    const heard = { source, stream: null, batches: 0, rows: Math.min(more, held) }
    for (const { epoch, first, last, rows: end } of epochs) {
      const stream = source.streams.get(epoch)
      if (stream && stream === source.stream) {
        if (last >= stream.next.seq) heard.stream = stream
      } else if (stream && last >= stream.end.seq) {
        heard.batches += last - stream.end.seq + 1
        stream.loseTail(last, end)
      } else if (!stream && end > known) {
        heard.batches += last - first + 1
      }
    }
    if (more > 0) {
      source.rows += more
      if (!isOfThisRun) source.recoveredRows += more
      source.stream = null // in an epoch rows are counted without a gap
    }
    return heard
  })
}

/**
 * Whether nothing of a source is held, nor lost: it need not be woken for that.
 * @param {import('./sources.js').Sources} sources @param {string} name @param {number} rows
 */
function isAtRest ({ resting }, name, rows) {
  const [known = -1] = resting.get(name)?.totals ?? []
  return rows <= known
}
