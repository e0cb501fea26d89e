import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { LocalMonitor } from '../../../gateway/stats/monitor/monitor.js'
import { SocketTally, connectedSockets, socketsIn } from '../../../gateway/stats/monitor/sockets.js'
import { SystemFiles } from '../../../gateway/stats/monitor/system-files.js'
import { FakeRoot } from './fake-root.js'

const WORKER = fileURLToPath(new URL('processes/worker.js', import.meta.url))
const BYTES = 3_000_000

describe('Network of processes, by their sockets', () => {
  it('is read from what ss prints, of which nothing that is 0 is there', () => {
    const text = 'ESTAB 0      0           127.0.0.1:40129   127.0.0.1:58380 uid:998 ino:2497736 sk:1a cgroup:/ <->\n' +
      '\t ts sack cubic wscale:10,10 rto:204 rtt:0.042/0.058 cwnd:13 bytes_sent:100070 bytes_retrans:70 bytes_acked:100000' +
      ' bytes_received:250 segs_out:5\n' +
      'ESTAB 0      0      [::ffff:127.0.0.1]:58380   [::ffff:127.0.0.1]:40129 ino:2497735 sk:1b cgroup:/ <->\n' +
      '\t ts sack cubic wscale:10,10 cwnd:13\n'
    expect([...socketsIn(text)]).to.deep.equal([
      ['2497736', { receivedBytes: 250, sentBytes: 100_000 }],
      ['2497735', { receivedBytes: 0, sentBytes: 0 }]
    ])
  })

  describe('of some processes', () => {
    /** @type {FakeRoot} */
    let root
    /** @type {SocketTally} */
    let tally
    beforeEach(() => {
      root = new FakeRoot()
      tally = new SocketTally(new SystemFiles(root.path))
      for (const pid of ['self', 10, 11]) root.link(`proc/${pid}/ns/net`, 'net:[4026531840]')
      root.link('proc/10/fd/0', '/dev/null')
      root.link('proc/10/fd/3', 'socket:[70]')
      root.link('proc/11/fd/3', 'socket:[70]')
      root.link('proc/11/fd/4', 'socket:[71]')
      root.link('proc/12/fd/4', 'socket:[72]')
    })
    afterEach(() => root.remove())

    const all = () => new Map([
      ['70', { receivedBytes: 1, sentBytes: 10 }], ['71', { receivedBytes: 2, sentBytes: 20 }], ['72', { receivedBytes: 5, sentBytes: 50 }]
    ])

    it('counts a socket that two of them share once, and none of others', () => {
      expect(tally.read([10, 11], all())).to.deep.equal({ receivedBytes: 3, sentBytes: 30, sockets: 2 })
    })

    it('keeps what a socket had carried that has closed, and takes another one with its number for another one', () => {
      tally.read([10, 11], all())
      const later = all()
      later.delete('71')
      expect(tally.read([10, 11], later)).to.deep.equal({ receivedBytes: 3, sentBytes: 30, sockets: 1 })
      expect(tally.read([10, 11], later.set('70', { receivedBytes: 0, sentBytes: 4 })))
        .to.deep.equal({ receivedBytes: 3, sentBytes: 34, sockets: 1 })
    })

    it('is absent, not 0, of processes whose network is another one', () => {
      root.process(12)
      root.link('proc/12/ns/net', 'net:[4026532999]')
      expect(tally.read([10, 12], all())).to.equal(undefined)
    })

    it('is absent, not 0, where it may not be seen what they have open', () => {
      root.process(13)
      root.link('proc/13/ns/net', 'net:[4026531840]')
      expect(tally.read([10, 13], all())).to.equal(undefined)
    })
  })

  it('counts a known transfer of one process, and keeps it when its socket has closed', async function () {
    if (!await connectedSockets()) {
      console.log('      skipped: there is no ss')
      this.skip()
    }
    const echo = createServer(socket => socket.on('error', () => {}).pipe(socket))
    await once(echo.listen(0, '127.0.0.1'), 'listening')
    const child = fork(WORKER)
    const ask = async (/** @type {unknown[]} */ ...command) => {
      child.send(command)
      await once(child, 'message')
    }
    try {
      await once(child, 'message')
      const monitor = new LocalMonitor({ processes: { client: { pid: /** @type {number} */ (child.pid) } } })
      const before = (await monitor.read({ fresh: true })).processes.client
      expect(before).to.include({ receivedBytes: 0, sentBytes: 0, sockets: 0 })
      await ask('transfer', /** @type {import('node:net').AddressInfo} */ (echo.address()).port, BYTES)
      // What comes back has been acknowledged, but TCP adds one for the connection's beginning.
      const after = (await monitor.read({ fresh: true })).processes.client
      expect(after).to.include({ receivedBytes: BYTES, sockets: 1 })
      expect(after.sentBytes).to.be.within(BYTES, BYTES + 1)
      await ask('hangUp')
      const { sentBytes } = after
      expect((await monitor.read({ fresh: true })).processes.client).to.include({ receivedBytes: BYTES, sentBytes, sockets: 0 })
    } finally {
      child.kill('SIGKILL')
      echo.close()
    }
  })
})
