/**
 * The storage of a database that is a file, written to through one connection by one transaction at a time. The file is opened when it is
 * first needed, and again after an error.
 *
 * @typedef {object} FileSession
 * @property {(sql: string, parameters?: any) => Promise<any[]>|any[]} run  a statement with parameters by name; returns rows as objects
 * @property {() => void} close
 */

/**
 * @template {FileSession} Session
 * @template Plan
 * @param {object} file
 * @param {() => Promise<Session>|Session} file.open
 * @param {(error: unknown) => boolean} file.isTransient
 * @param {ReturnType<typeof import('./commit-records.js').commitStatements>} file.commits
 * @param {(session: Session, plan: Plan, arranged: import('../../batch/batch.js').Batch[]) => Promise<void>|void} file.insert
 * @param {import('../../base/turns.js').Turns} file.turns  of all sinks of this database: of several with one file, each ends its
 *   transaction before the next one begins
 * @param {string} [file.begin]  a transaction
 * @returns {Pick<import('./sink.js').Storage<Session, Plan>, 'use'|'close'|'prepareCommits'|'readCommits'|'claim'|'compact'|'store'>}
 */
export function fileStorage ({ open, isTransient, commits, insert, turns, begin = 'BEGIN' }) {
  /** @type {Session|null} */
  let opened = null
  const shut = () => {
    opened?.close()
    opened = null
  }
  return {
    use: (work, signal) => turns.run(async () => {
      const session = opened ??= await open()
      try {
        return await work(session)
      } catch (error) {
        await rollBack(session)
        // Whatever else failed, the file may have been replaced or its tables changed: start over.
        if (isTransient(error)) shut()
        throw error
      }
    }, signal),
    close: () => turns.run(async () => shut()),

    async prepareCommits ({ run }) { await run(commits.create) },
    readCommits: async ({ run }) => (await run(commits.read)).map(row => ({ ...row, seq: Number(row.seq), last: Number(row.last) })),
    async claim ({ run }, wanted) {
      const claimed = []
      for (const { table, gateway, source, epoch, seq } of wanted) {
        const [isNew] = await run(`${commits.claim} RETURNING seq`, { table, gateway, source, epoch, seq })
        if (isNew) claimed.push({ table, gateway, source, epoch, seq })
      }
      return claimed
    },
    async compact ({ run }, merged) {
      await run(begin)
      for (const record of await merged()) {
        await run(commits.absorb, record)
        await run(commits.extend, record)
      }
      await run('COMMIT')
    },
    async store (session, claimed, probe) {
      await session.run(begin)
      for (const [plan, batches] of await claimed()) await insert(session, plan, batches)
      await session.run(probe ? 'ROLLBACK' : 'COMMIT')
    }
  }
}

/** @param {FileSession} session */
async function rollBack ({ run }) {
  try {
    await run('ROLLBACK')
  } catch {
    // the error has ended the transaction, or there was none
  }
}
