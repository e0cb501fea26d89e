/** How rows gather in front of the spool, in the forms of stage out and stage in. */
export const gatheringProperties = {
  gatherMs: {
    type: 'integer',
    title: 'Gather for',
    description: 'Rows of a source wait so long for more: together they are stored, sent and counted as one batch, which costs far ' +
      'less. 0: nothing waits. A message is done, and acknowledged, once its rows are in the spool; where its sender waits for that ' +
      'before it sends more, they go on at once; so do 100 rows or more that were measured over as long a time. Where more than 200 ' +
      'sources send at once, each waits longer: 0.5 ms for each of them, at most 1 s.',
    minimum: 0,
    maximum: 60_000,
    default: 100,
    'x-unit': 'ms',
    'x-advanced': true
  },
  gatherRows: {
    type: 'integer',
    title: 'Rows',
    description: 'So many rows of a source do not wait any longer. What has more is cut: no batch has more rows, nor do the sinks store ' +
      'more of them in one transaction than they are set to. 1: each row is a batch.',
    minimum: 1,
    maximum: 1_000_000,
    default: 10_000,
    'x-advanced': true
  },
  gatherKilobytes: {
    type: 'integer',
    title: 'Bytes',
    description: 'Rows of a source that take so much do not wait any longer. The spool cuts what is over 256 KiB.',
    minimum: 1,
    maximum: 16_384,
    default: 128,
    'x-unit': 'KiB',
    'x-advanced': true
  }
}

/** In the form of stage out alone: the brokers that stage in reads from send no more while so much waits. */
export const intervalProperty = {
  gatherIntervalMs: {
    type: 'integer',
    title: 'Whole intervals',
    description: 'Batches hold whole intervals of this length, counted from 1970 as in documents of a sink: rows wait until their ' +
      'source sends one of another interval, or until twice the length has passed. 0: rows wait only as above.',
    minimum: 0,
    maximum: 60_000,
    default: 0,
    'x-unit': 'ms',
    'x-advanced': true
  }
}

/**
 * How rows wait for the whole of their interval.
 * @param {number} intervalMs
 */
export function intervalOptions (intervalMs) {
  return { intervalNs: BigInt(intervalMs) * 1_000_000n, maxAgeMs: 2 * intervalMs }
}

/** @param {{gatherMs: number, gatherRows: number, gatherKilobytes: number}} options  of the node */
export function gatheringOptions ({ gatherMs, gatherRows, gatherKilobytes }) {
  return { maxRows: gatherRows, maxBytes: gatherKilobytes * 2 ** 10, maxAgeMs: gatherMs }
}
