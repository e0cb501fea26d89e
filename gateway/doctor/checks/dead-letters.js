import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FILE_NAME, deadLettersFolder, openDeadLetterQueue, sinkOfFolder } from '../../dead-letters/queue.js'
import { folderNames } from '../../flow/node-names.js'
import { measure } from '../../stats/format.js'
import { ok, warning } from '../finding.js'
import { said } from '../../stats/phrases.js'

/** A longer file is not read through, which would keep a gateway busy on whose page this runs. */
const MAX_READ_BYTES = 2 ** 24

/** @type {import('../finding.js').Check} */
export const deadLetters = {
  name: 'dead-letters',
  title: 'Dead letters',
  async find ({ userDir }) {
    const parent = deadLettersFolder(userDir)
    const files = (await readdir(parent, { recursive: true }).catch(() => [])).filter(file => basename(file) === FILE_NAME)
    const nameOf = folderNames(join(userDir, 'sluice'))
    const found = (await Promise.all(files.map(file => findingOf(join(parent, dirname(file)), nameOf(sinkOfFolder(dirname(file))))))).flat()
    return found.length > 0 ? found : [ok(said`No database has refused a row for good.`)]
  }
}

/** @param {string} folder @param {string} sink @returns {Promise<import('../finding.js').Finding[]>} */
async function findingOf (folder, sink) {
  const { size } = await stat(join(folder, FILE_NAME))
  if (size === 0) return []
  const rows = size > MAX_READ_BYTES ? null : await countIn(folder)
  if (rows === 0) return []
  const what = rows === null ? said`${measure(size, 'B')} of dead letters` : rows === 1 ? said`A dead letter` : said`${rows} dead letters`
  return [warning(said`${what}: rows that the database has refused for good.`, said`sink ${sink}`,
    said`sluice dead-letters list --sink '${sink}' says why. Mend that, then: sluice dead-letters replay --all`)]
}

/** @param {string} folder */
async function countIn (folder) {
  const queue = await openDeadLetterQueue(folder, { readOnly: true })
  await queue.close()
  return queue.count
}
