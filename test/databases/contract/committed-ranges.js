import { RangeSet } from '../../../gateway/batch/ranges.js'

/**
 * What a sink reports as stored, as ranges of each epoch.
 * @param {import('../../../gateway/databases/sink.js').Sink} sink
 */
export async function committedRanges (sink) {
  const { records } = await sink.committed()
  const epochs = Map.groupBy(records, ({ gateway, source, epoch }) => JSON.stringify([gateway, source, epoch]))
  return [...epochs.values()].map(its => {
    const [{ gateway, source, epoch }] = its
    return { gateway, source, epoch, ranges: new RangeSet(its.map(({ first, last }) => [first, last])).ranges }
  })
}
