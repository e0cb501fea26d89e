import { open } from '../../gateway/databases/cassandra/reader.js'
import { CassandraDatabase } from '../databases/cassandra-database.js'
import { lookupContract } from './lookups.js'
import { endlessTest, sourcesTest, storedContract, storing, wholeRangeTest, wrongTableTest } from './stored.js'

describe('Cassandra reader', () => {
  const stored = storing(CassandraDatabase.inSuite(), open)

  storedContract(stored, ['wide', 'narrow', 'document'])
  lookupContract(stored)
  wholeRangeTest(stored)
  sourcesTest(stored)
  endlessTest(stored)
  wrongTableTest(stored, /does not exist.*keyspace/, ['wide', 'document'])
})
