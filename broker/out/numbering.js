import { describe } from '../../gateway/base/errors.js'
import { LOOK_BACK_MS, Numbering } from '../../gateway/batch/numbering.js'
import { decode } from '../../gateway/messages/codecs/arrow/arrow.js'

/** What is read of a spool, so that many small records delay no start. */
const MAX_RECORDS = 4096

/**
 * Numbers what is staged from now on, and knows what an earlier process has staged in its last seconds, as far as the spool still has it.
 * @param {import('../spool/spool.js').Spool} spool
 * @param {import('../../gateway/base/log.js').Log} log
 */
export async function numberingOf (spool, log) {
  const numbering = new Numbering()
  let records = 0
  for await (const place of spool.newest(LOOK_BACK_MS)) {
    if (++records > MAX_RECORDS) break
    const record = await spool.read(place)
    if (record && !remember(numbering, record.payload, log)) break
  }
  return numbering
}

/** @param {Numbering} numbering @param {Uint8Array} payload @param {import('../../gateway/base/log.js').Log} log */
function remember (numbering, payload, log) {
  try {
    return numbering.remember(decode(payload))
  } catch (error) {
    log.warn(`A batch in the spool is not compared with new ones: ${describe(error)}`)
    return true
  }
}
