import { killTest } from './kill-test.js'

const QUICK = { mysql: 'mariadb', mongodb: 'mongodb', influxdb: 'influxdb', clickhouse: 'clickhouse', 'clickhouse-old': 'clickhouse-old' }

describe('Kill test of the other databases', function () {
  this.timeout(300_000)

  describe('that start at once', () => killTest(QUICK, { embedded: ['file', 'duckdb'], kills: 11 }))

  // While it starts, nothing else would be killed.
  describe('Cassandra, which takes seconds', () => killTest({ cassandra: 'cassandra' }, { kills: 8 }))
  describe('Kafka, whose transactions it ends', () => killTest({ kafka: 'kafka' }, { kills: 8 }))
})
