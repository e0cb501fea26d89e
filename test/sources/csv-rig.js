import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { openCsvPlayer } from '../../gateway/sources/csv/player.js'
import { recorder } from './manual-clock.js'

/** A folder with a CSV file, for the tests of the suite that calls this. */
export function csvRig () {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-csv-'))
  const file = path.join(folder, 'log.csv')
  after(() => rmSync(folder, { recursive: true }))

  /**
   * Plays a text to its end, as fast as possible and with the times it has.
   * @param {string|Uint8Array} text @param {object} [options] @param {ReturnType<typeof recorder>} [recording]
   */
  async function play (text, options, recording = recorder()) {
    writeFileSync(file, text)
    const source = openCsvPlayer({ name: 'log', file, speed: 0, times: 'recorded', ...options }, recording)
    const error = await recording.ended
    return { ...recording, counters: source.counters, error, rows: /** @type {any[]} */ (recording.rows()) }
  }

  return { folder, file, play }
}
