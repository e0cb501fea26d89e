import { once } from 'node:events'
import { createServer } from 'node:net'
import { mock } from 'node:test'
import { expect } from 'chai'
import { connect } from '../../gateway/databases/voltdb/connection.js'
import { nameIn, nameOf } from '../../gateway/databases/voltdb/dialect.js'
import { callMessage, readAnswer, Table, TYPE } from '../../gateway/databases/voltdb/protocol.js'
import { failureOf } from './contract/batches.js'

/** Bytes after their length. @param {...Buffer} parts */
function message (...parts) {
  const body = Buffer.concat(parts)
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length)
  return Buffer.concat([length, body])
}

const WELCOME = message(Buffer.of(0, 0), Buffer.alloc(24), message(Buffer.from('10.1.1_fake')))

/** An answer without tables, or with what is in their place. @param {bigint} id @param {...Buffer} rest */
function answer (id, ...rest) {
  const head = Buffer.alloc(16)
  head.writeBigInt64BE(id, 1)
  head.writeInt8(1, 10)
  return message(head, ...rest.length > 0 ? rest : [Buffer.of(0, 0)])
}

/** Of one BIGINT, as often as the count says. @param {number} count @param {bigint[]} values */
function tableOf (count, values) {
  const meta = message(Buffer.of(0, 0, 1, TYPE.bigint), message(Buffer.from('n')))
  const rows = values.map(value => {
    const row = Buffer.alloc(12)
    row.writeInt32BE(8)
    row.writeBigInt64BE(value, 4)
    return row
  })
  const counted = Buffer.alloc(4)
  counted.writeInt32BE(count)
  return Buffer.concat([Buffer.of(0, 1), message(meta, counted, ...rows)])
}

describe('VoltDB\'s protocol', () => {
  /** @type {(() => Promise<unknown>)[]} */
  let ends
  beforeEach(() => { ends = [] })
  afterEach(async () => {
    mock.timers.reset()
    for (const end of ends) await end()
  })

  /**
   * A fake server, which answers the login, and then each call with what it is told to.
   * @param {(id: bigint, socket: import('node:net').Socket, call: Buffer) => void} answering
   * @param {Buffer} [welcome]
   */
  const fake = async (answering, welcome = WELCOME) => {
    const server = createServer(socket => {
      let isIn = false
      let rest = Buffer.alloc(0)
      socket.on('error', () => {})
      socket.on('data', piece => {
        rest = Buffer.concat([rest, piece])
        while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE()) {
          const call = rest.subarray(4, 4 + rest.readInt32BE())
          rest = rest.subarray(4 + call.length)
          if (isIn) answering(call.readBigInt64BE(5 + call.readInt32BE(1)), socket, call)
          else socket.write(welcome)
          isIn = true
        }
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    const client = connect({ port })
    ends.push(() => client.close(), async () => { server.close() })
    return client
  }

  it('gives a connection up on which a call gets no answer, although others do', async () => {
    const client = await fake((id, socket, call) => { if (call.includes('heard')) socket.write(answer(id)) })
    const session = await client.session()
    mock.timers.enable({ apis: ['setTimeout'] })
    const lost = failureOf(() => session.call('lost', []))
    mock.timers.tick(50_000)
    expect(await session.call('heard', [])).to.deep.equal([])
    mock.timers.tick(20_000)
    expect((await lost).message).to.include('no answer within 60 s')
    expect(session.wire.isOpen).to.equal(false)
  })

  it('has calls under way at the same time, and takes their answers in any order and in any pieces', async () => {
    /** @type {Buffer[]} */
    const answers = []
    const client = await fake((id, socket) => {
      answers.unshift(answer(id, tableOf(1, [id])))
      if (answers.length < 20) return
      const all = Buffer.concat(answers)
      for (let at = 0; at < all.length; at += 7) socket.write(all.subarray(at, at + 7))
    })
    const found = await Promise.all(Array.from({ length: 20 }, () => client.query('SELECT n FROM t')))
    expect(found.map(([[n]]) => n)).to.deep.equal(Array.from({ length: 20 }, (_, i) => BigInt(i + 1)))
  })

  it('writes parameters of each type', () => {
    const bytes = callMessage(7n, 'P', ['ä', 5, 0.5, 2n ** 40n, null, Uint8Array.of(1, 2), ['a', 'b'], [1n]])
    expect(bytes.subarray(4).toString('hex')).to.equal([
      '00', '0000000150', '0000000000000007', '0008', '0900000002c3a4', '0500000005', '083fe0000000000000', '060000010000000000', '01',
      '19000000020102', '9d09000200000001610000000162', '9d0600010000000000000001'
    ].join(''))
  })

  it('reads what it has written of a table', () => {
    const row = Buffer.alloc(12)
    row.writeInt32BE(8)
    row.writeBigInt64BE(-5n, 4)
    const table = new Table([{ name: 'n', type: TYPE.bigint }], 1, row)
    const { answers } = readAnswer(answer(1n, Buffer.of(0, 1), ...table.bytes.map(Buffer.from)).subarray(4))
    expect(answers()).to.deep.equal([{ types: [TYPE.bigint], names: ['n'], rows: [[-5n]] }])
  })

  for (const [what, bytes] of /** @type {[string, (id: bigint) => Buffer][]} */ ([
    ['a message of 2 GiB', () => Buffer.of(0x7f, 0xff, 0xff, 0xff, 0)],
    ['a message of a negative length', () => Buffer.of(0xff, 0xff, 0xff, 0xff, 0)],
    ['an answer that ends too early', id => answer(id, Buffer.of(0, 1, 0, 0))],
    ['more tables than there are', id => answer(id, Buffer.of(0x7f, 0xff))],
    ['more rows than there are', id => answer(id, tableOf(2 ** 31 - 1, [1n]))],
    ['a value of a type that no one knows', id => {
      const table = tableOf(1, [1n])
      table[table.indexOf(TYPE.bigint, 13)] = 99
      return answer(id, table)
    }]
  ])) {
    it(`ends a connection over which ${what} comes, and makes another`, async () => {
      let isHostile = true
      const client = await fake((id, socket) => socket.write(isHostile ? bytes(id) : answer(id, tableOf(1, [5n]))))
      const error = await failureOf(() => client.query('SELECT n FROM t'))
      expect([error.code, /what is no answer/.test(error.message)]).to.deep.equal(['SLUICE_SINK_CONNECT', true])
      isHostile = false
      expect(await client.query('SELECT n FROM t')).to.deep.equal([[5n]])
    })
  }

  it('is not confused by answers that nobody waits for', async () => {
    const client = await fake((id, socket) => {
      socket.write(answer(id + 100n))
      socket.write(answer(id, tableOf(1, [5n])))
    })
    expect(await client.query('SELECT n FROM t')).to.deep.equal([[5n]])
  })

  it('says that the server has closed the connection', async () => {
    const client = await fake((_id, socket) => socket.destroy())
    expect((await failureOf(() => client.query('SELECT n FROM t'))).message).to.match(/No connection to VoltDB at .*(closed|ECONNRESET)/)
  })

  it('makes one connection after a lost one, whoever asks for it: each call made one of its own, and they stayed open', async () => {
    /** @type {Set<import('node:net').Socket>} */
    const sockets = new Set()
    const client = await fake((id, socket, call) => {
      sockets.add(socket)
      if (call.includes('end')) socket.destroy()
      else socket.write(answer(id, tableOf(1, [5n])))
    })
    await failureOf(() => client.query('end'))
    sockets.clear()
    await Promise.all(Array.from({ length: 5 }, () => client.query('SELECT n FROM t')))
    expect(sockets.size).to.equal(1)
  })

  it('refuses a login whose answer is no answer', async () => {
    const client = await fake(() => {}, message(Buffer.of(0)))
    expect((await failureOf(() => client.query('SELECT n FROM t'))).code).to.equal('SLUICE_SINK_CONNECT')
  })

  it('gives each name one of its own, that tells it', () => {
    const names = ['a', 'A', 'aB', 'Ab', 'order', 'Order', 'ORDER', '1', '1A', 'n1', 'n1_xn', 'a_x8', 'A_x8', 'a_x8_', 'a b', 'a_x20_b',
      'a_x20_', 'Süd', 'süd', 'SÜD', '_', '__x', '_x', 'x_', '🚀', 'n🚀', 'time~field']
    const columns = names.map(nameIn)
    expect(new Set(columns.map(column => column.toUpperCase())).size).to.equal(names.length)
    for (const column of columns) expect(column).to.match(/^[a-z]\w*$/)
    expect(columns.map(nameOf)).to.deep.equal(names)
    expect(nameIn('x'.repeat(500))).to.have.length(120)
  })
})
