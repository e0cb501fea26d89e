/** @typedef {import('cassandra-driver').Client} Client */

/** @param {Client} client @param {string} keyspace @returns {Promise<Record<string, string>|null>} null where it is missing */
export async function replicationOf (client, keyspace) {
  const { rows } = await client.execute('SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?', [keyspace])
  return rows[0]?.replication ?? null
}

/**
 * How many nodes must answer, and what to do where the keyspace does not survive one that is away; empty of a single node.
 * @param {Record<string, string>} replication
 * @param {string} dataCenter  whose replicas count; those of all where it is empty
 * @param {{nodes: number, reached: number}} counts
 */
export function replicaAdvice ({ class: strategy, ...factors }, dataCenter, { nodes, reached }) {
  if (nodes === 1) return ''
  const isPerDataCenter = strategy.endsWith('NetworkTopologyStrategy')
  const counted = isPerDataCenter && dataCenter !== '' ? [factors[dataCenter] ?? '0'] : Object.values(factors)
  const replicas = counted.reduce((sum, factor) => sum + parseInt(factor), 0)
  if (replicas === 0) return `The keyspace has no replicas in the data centre "${dataCenter}": nothing can be stored there.`
  const quorum = Math.floor(replicas / 2) + 1
  const needed = replicas === 1 ? 'Each row is on one node' : `Each row is on ${replicas} nodes, ${quorum} of which must answer`
  if (reached < quorum) return `${needed}: nothing is stored until more nodes are there.`
  if (quorum < replicas) return `${needed}.`
  return `${needed}: while one is away, nothing is stored that belongs there. Where there are three nodes, give the keyspace three ` +
    'replicas (ALTER KEYSPACE, then nodetool repair --full on each node).'
}

/** What to know of what is acknowledged; empty where all is well, or where the server does not tell. @param {Client} client */
export async function syncAdvice (client) {
  const { rows: [found] } = await client.execute('SELECT value FROM system_views.settings WHERE name = \'commitlog_sync\'')
    .catch(() => ({ rows: [] }))
  if (found?.value !== 'periodic') return ''
  return 'The server acknowledges what is not on its disk yet (commitlog_sync: periodic): when all replicas fail at once, the last ' +
    'seconds are lost. Set commitlog_sync to group, or keep three replicas in places of their own.'
}
