/**
 * Advisory locks, which all gateways that store in one database share. The first number keeps them apart from other applications' ("sluc").
 */
export const LOCKS = {
  /** Behind whoever waits to change a table, all others wait who only want to write to it: after a while they go first. */
  makingTables: 'set_config(\'lock_timeout\', \'2s\', true), pg_advisory_xact_lock(1936487779, 1)',
  /**
   * Writers look for a batch's commit record while no compaction moves it. There is but one way to look, which need not be planned each
   * time (since PostgreSQL 12).
   */
  claiming: 'set_config(\'plan_cache_mode\', \'force_generic_plan\', true), pg_advisory_xact_lock_shared(1936487779, 2)',
  compacting: 'pg_advisory_xact_lock(1936487779, 2)'
}

/** A transaction whose gateway says nothing more would keep the same batch waiting that comes again. */
const LEFT = 'set_config(\'idle_in_transaction_session_timeout\', \'60s\', true)'

/**
 * Starts a transaction that holds a lock, in one round trip. Statements after it see all that was committed before it had the lock,
 * which is why the isolation level is not left to the server's settings.
 * @param {import('pg').ClientBase} client
 * @param {string} lock  one of LOCKS
 */
export async function begin (client, lock) {
  await client.query(`BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT ${LEFT}, ${lock}`)
}

/**
 * Commits what the work has done. After an error it is left to who took the connection to roll back.
 * @template T
 * @param {import('pg').ClientBase} client
 * @param {string} lock  one of LOCKS
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function inTransaction (client, lock, work) {
  await begin(client, lock)
  const result = await work()
  await client.query('COMMIT')
  return result
}
