import { killTest } from '../chaos/kill-test.js'

describe('Kill test of the databases whose servers take long', function () {
  this.timeout(900_000)

  describe('QuestDB, which applies later what it has acknowledged', () => killTest({ questdb: 'questdb' }, { kills: 8 }))
  describe('HBase, of two servers', () => killTest({ hbase: 'hbase' }, { kills: 8 }))
  describe('Warp 10', () => killTest({ warp10: 'warp10' }, { kills: 8 }))
  describe('VoltDB, which keeps nothing over a kill of its own', () => killTest({ voltdb: 'voltdb' }, { kills: 12, killed: [] }))
})
