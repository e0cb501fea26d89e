import { until } from './guest.js'
import { DATABASE, FRAME_ID, INTERFACE } from './flow.js'

/** @typedef {import('./guest.js').Guest} Guest */

const LIMIT_MS = 180_000

/**
 * Sends frames in the guest, and waits for as many rows.
 * @param {Guest} guest
 * @param {number} frames
 * @returns {Promise<string>} a line to tell
 */
export async function countFrames (guest, frames) {
  await guest.run(`cangen ${INTERFACE} -I ${FRAME_ID} -L 8 -D i -g 2 -n ${frames}`, { limitMs: LIMIT_MS })
  const query = sqlite('SELECT (SELECT count(*) FROM "car.Drive"), count(*), count(DISTINCT data) FROM frames')
  await until(async () => {
    const [signals, rows, different] = (await guest.run(query)).trim().split('|').map(Number)
    if (signals === frames && rows === frames && different === frames) return
    throw new Error(`${frames} frames were sent; stored: ${signals} rows of signals, ${rows} of frames, ${different} of them different.`)
  }, LIMIT_MS)
  const connected = await guest.run('journalctl --unit=mosquitto --output=cat --grep="New client connected"')
  const clients = connected.trim().split('\n').length
  return `CAN: ${frames} frames of cangen on ${INTERFACE} are ${frames} rows of signals by the DBC and ${frames} of frames in SQLite; ` +
    `Mosquitto had ${clients} connections`
}

/** As the gateway's user, who owns what SQLite writes beside the file. @param {string} sql */
export function sqlite (sql) {
  return `runuser -u sluice -- sqlite3 -cmd '.timeout 20000' ${DATABASE} ${quoted(sql)}`
}

/** @param {string} text */
function quoted (text) {
  return `'${text.replaceAll('\'', '\'\\\'\'')}'`
}
