import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { startRelay } from '../../servers/relay.js'
import { failureOf } from './batches.js'

/**
 * @template Connection
 * @typedef {object} Server
 * @property {(work: (connection: Connection) => Promise<unknown>) => Promise<unknown>} use
 * @property {(work: (connection: Connection) => Promise<unknown>) => Promise<unknown>} read
 * @property {() => Promise<void>} close
 */

/**
 * @template {{query: (sql: string) => Promise<unknown>}} Connection
 * @param {object} setup
 * @param {() => number} setup.port  of the server
 * @param {(port: number, silenceMs: number) => Server<Connection>} setup.connect  with two connections
 * @param {string} setup.sleepTwoSeconds  SQL
 */
export function lostAnswersTest ({ port, connect, sleepTwoSeconds }) {
  it('waited for ever for an answer that was lost on the way: the connection is given up, unless the work may take long', async () => {
    const relay = await startRelay(port())
    const connected = connect(relay.port, 1500)
    try {
      const ask = () => connected.use(connection => connection.query('SELECT 1'))
      await Promise.all([ask(), ask()])
      expect(relay.connections).to.equal(2)
      relay.swallow()
      expect((await failureOf(ask)).message).to.equal('no answer within 1.5 s')
      await ask() // the other one is lost as well, and not tried
      await connected.read(connection => connection.query(sleepTwoSeconds))
      await connected.use(() => sleep(2000))
      await ask()
      expect(relay.connections).to.equal(1)
    } finally {
      await connected.close()
      await relay.cut()
    }
  })
}
