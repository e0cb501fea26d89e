import { SluiceError } from '../base/errors.js'

/**
 * The bench drops all that is in the databases that it measures.
 * @param {import('./servers.js').Server} server
 * @param {() => Promise<string[]>} tables  that are there
 * @throws {SluiceError} SLUICE_BENCH_NOT_EMPTY
 */
export async function refuseWhatIsThere ({ database }, tables) {
  const [first] = await tables()
  if (first === undefined) return
  throw new SluiceError('SLUICE_BENCH_NOT_EMPTY', `The database "${database}" is not empty: it has "${first}".`,
    { fix: 'Name an empty database of its own: the bench drops what it finds there.' })
}
