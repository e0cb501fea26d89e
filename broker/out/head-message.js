import { MAX_CONTROL_EPOCHS, MAX_CONTROL_RANGES } from '../control-messages.js'

/**
 * A head as the broker gets it. What is beyond its bounds has its turn when what is older is stored; the newest epoch is always in it.
 * @param {{sources: import('../spool/head.js').SourceHead[]}} head
 */
export function headMessage ({ sources }) {
  return {
    rows: sources.reduce((sum, { rows }) => sum + rows, 0),
    sources: sources.map(({ source, rows, lost, dropped, replaced, epochs }) => ({
      source,
      rows,
      lostRows: lost + dropped,
      replacedRows: replaced,
      epochs: [...epochs.slice(0, -1).slice(0, MAX_CONTROL_EPOCHS - 1), ...epochs.slice(-1)].map(epochMessage)
    }))
  }
}

/** @param {import('../spool/head.js').EpochHead} epoch */
function epochMessage ({ epoch, first, last, before, rows, ...exceptions }) {
  const bounded = Object.entries(exceptions).map(([kind, ranges]) => [kind, ranges.slice(0, MAX_CONTROL_RANGES)])
  const held = [epoch, first, Math.max(last, first - 1), before, rows]
  return bounded.length > 0 ? [...held, Object.fromEntries(bounded)] : held
}
