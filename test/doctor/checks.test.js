import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { openDeadLetterQueue, deadLettersFolder } from '../../gateway/dead-letters/queue.js'
import { can } from '../../gateway/doctor/checks/can.js'
import { clock } from '../../gateway/doctor/checks/clock.js'
import { deadLetters } from '../../gateway/doctor/checks/dead-letters.js'
import { disk } from '../../gateway/doctor/checks/disk.js'
import { flow } from '../../gateway/doctor/checks/flow.js'
import { machine } from '../../gateway/doctor/checks/machine.js'
import { memory } from '../../gateway/doctor/checks/memory.js'
import { modes } from '../../gateway/doctor/checks/modes.js'
import { ports } from '../../gateway/doctor/checks/ports.js'
import { serial } from '../../gateway/doctor/checks/serial.js'
import { spools } from '../../gateway/doctor/checks/spools.js'
import { versions } from '../../gateway/doctor/checks/versions.js'
import { Patient } from './subject.js'

const broker = { id: 'broker', type: 'sluice-broker', url: 'mqtt://127.0.0.1:1883' }
const stageOut = { id: 'out', type: 'sluice-stage-out', z: 'tab', broker: 'broker', name: 'press', spoolMegabytes: 1, wires: [] }

describe('What the doctor finds', () => {
  /** @type {Patient} */
  let patient
  beforeEach(() => { patient = new Patient() })
  afterEach(() => patient.remove())

  describe('in versions', () => {
    it('is a Node-RED that is missing or too old', async () => {
      expect(await patient.findings(versions, { nodeRed: null })).to.include('problem: Node-RED is not installed.')
      expect(await patient.findings(versions, { nodeRed: '4.0.9' })).to.include('problem: Node-RED 4.0.9 is too old.')
      expect(await patient.findings(versions)).to.include('ok: Node-RED 5.0.7.')
    })
  })

  describe('in the flow', () => {
    it('is that there is none', async () => {
      expect(await patient.findings(flow)).to.deep.equal([`note: ${patient.userDir}/flows.json: There is no flow yet.`])
    })

    it('is that it cannot be read, which is said once', async () => {
      writeFileSync(join(patient.userDir, 'flows.json'), '[{ "id": "cut o')
      const [found, ...more] = await patient.findings(flow)
      expect(found).to.match(/^problem: .*The flow cannot be read: .*JSON/)
      expect(more).to.deep.equal([])
      expect(await patient.findings(can)).to.deep.equal([])
    })

    it('are options that cannot be, and nodes that are named and missing', async () => {
      patient.flow([{ ...stageOut, spoolMegabytes: -1, broker: 'gone' }])
      expect(await patient.findings(flow)).to.deep.equal([
        'problem: stage out "press": Spool size must be between 1 and 1,000,000 MiB; -1 is too small.',
        'problem: stage out "press": Broker: the node it names is not in the flow, or disabled.'
      ])
    })

    it('is nothing of nodes and tabs that are disabled, and of config nodes that nobody uses', async () => {
      const off = { id: 'off', type: 'tab', disabled: true }
      patient.flow([off, { ...stageOut, z: 'off', spoolMegabytes: -1 }, { ...stageOut, d: true, broker: 'gone' }, { ...broker, url: 'no' }])
      expect((await patient.findings(flow))[0]).to.match(/^ok: /)
    })

    it('are variables that are not set', async () => {
      patient.flow([{ ...broker, url: '${BROKER_URL}' }, stageOut])
      expect(await patient.findings(flow)).to.deep.equal([
        'warning: broker broker: The variable BROKER_URL of the environment is not set here.'
      ])
      patient.environment.BROKER_URL = 'mqtt://broker.example'
      expect((await patient.findings(flow))[0]).to.match(/^ok: /)
    })

    it('are two Kafka ins that share a group, and not their sinks', async () => {
      const kafka = { id: 'kafka', type: 'sluice-kafka-server', host: '127.0.0.1', port: 9092 }
      const kafkaIn = (/** @type {string} */ name, /** @type {string} */ sink) => {
        return { id: name, type: 'sluice-kafka-in', z: 'tab', name, server: 'kafka', topics: ['plant'], wires: [[sink]] }
      }
      const sinks = ['a', 'b'].map(id => ({ id, type: 'sluice-sqlite', z: 'tab', file: `${id}.sqlite`, wires: [] }))
      patient.flow([kafka, kafkaIn('one', 'a'), kafkaIn('two', 'b'), ...sinks])
      const shared = 'It shares the group "sluice" and a topic with kafka in "two", but not the sinks: each of these gets only a part.'
      expect(await patient.findings(flow)).to.deep.equal([`warning: kafka in "one": ${shared}`])
    })

    it('are passwords that cannot be read', async () => {
      patient.flow([broker, stageOut], { broker: { password: 'x' } })
      expect((await patient.findings(flow))[0]).to.match(/^ok: /)
      writeFileSync(join(patient.userDir, 'credential-secret'), 'another', { mode: 0o600 })
      expect((await patient.findings(flow))[0]).to.match(/^warning: The passwords of the flow cannot be read/)
    })
  })

  describe('in spools', () => {
    /** @param {string} spool @param {number[]} sizes  of its segments @param {number} [ageMs] */
    function segments (spool, sizes, ageMs = 0) {
      const folder = join(patient.userDir, 'sluice', 'spool', spool)
      mkdirSync(folder, { recursive: true })
      for (const [i, size] of sizes.entries()) {
        const path = join(folder, `${String(i + 1).padStart(12, '0')}.0123456789abcdef.segment`)
        writeFileSync(path, Buffer.alloc(size))
        utimesSync(path, new Date(), new Date(Date.now() - ageMs))
      }
    }

    /** @param {string[]} keys */
    function sinks (...keys) {
      const folder = join(patient.userDir, 'sluice', 'required-sinks')
      mkdirSync(folder, { recursive: true })
      const wired = keys.map(key => ({ key, label: '', gateway: '+', source: '+' }))
      writeFileSync(join(folder, 'broker.json'), JSON.stringify({ wired, remote: [], forgotten: [] }))
    }

    const running = { credentialsOf: () => undefined }

    it('is one of a node that is gone', async () => {
      patient.flow([broker, stageOut])
      segments('old', [20_000])
      expect(await patient.findings(spools)).to.deep.equal([
        'problem: spool old: 20.0 kB wait in the spool of a node that is not in the flow, or disabled: nothing sends them.'
      ])
    })

    it('is one that no sink empties', async () => {
      patient.flow([broker, stageOut])
      segments('out', [20_000])
      expect(await patient.findings(spools)).to.deep.equal([
        'warning: stage out "press": 20.0 kB of 1.05 MB wait in the spool, and there is no sink that would store them.'
      ])
    })

    it('is one whose oldest segment has been complete for long, while the gateway runs', async () => {
      patient.flow([broker, stageOut])
      sinks('gw/sqlite')
      segments('out', [20_000, 20_000], 3_600_000)
      expect((await patient.findings(spools, running))[0]).to.match(
        /^problem: .* 40\.0 kB of 1\.05 MB wait in the spool, the oldest for 60\.0 min\. Not all of these store: gw\/sqlite/)
      expect((await patient.findings(spools))[0]).to.match(/^note: .* wait in the spool until the gateway runs\.$/)
    })

    it('is one that is full', async () => {
      patient.flow([broker, stageOut])
      sinks('gw/sqlite')
      segments('out', [1_000_000])
      expect((await patient.findings(spools, running))[0]).to.match(/^problem: .*: The spool is full \(1\.00 MB of 1\.05 MB\)/)
    })

    it('is nothing of one that is being emptied', async () => {
      patient.flow([broker, stageOut])
      sinks('gw/sqlite')
      segments('out', [20_000, 20_000])
      expect((await patient.findings(spools, running))[0]).to.match(/^ok: /)
    })

    it('is that the disk has less room than they may take', async () => {
      patient.flow([broker, { ...stageOut, spoolMegabytes: 1_000_000 }, { ...stageOut, id: 'other', spoolMegabytes: 1_000_000 }])
      segments('out', [10])
      expect((await patient.findings(spools)).at(-1)).to.match(/^warning: .*The spools may grow by 2\.10 TB, and the disk has/)
    })
  })

  it('in dead letters: rows that a database has refused', async () => {
    expect(await patient.findings(deadLetters)).to.deep.equal(['ok: No database has refused a row for good.'])
    const queue = await openDeadLetterQueue(deadLettersFolder(patient.userDir, 'sqlite'))
    await queue.append(/** @type {any} */ ([
      { key: 'a', source: 'press', identity: null, row: 0, failedAt: '', time: '0', reason: { text: 'no' }, fields: [], values: [] }
    ]))
    expect(await patient.findings(deadLetters)).to.deep.equal([
      'warning: sink sqlite: A dead letter: rows that the database has refused for good.'
    ])
    await queue.close()
  })

  describe('on the disk', () => {
    it('is how long a write takes', async () => {
      const found = await patient.findings(disk)
      expect(found.at(-1)).to.match(/To force 4 KiB to the disk takes .*, at worst/)
    })

    it('is a folder that cannot be written', async function () {
      if (process.platform !== 'linux') return this.skip() // where root cannot write either
      expect(await patient.findings(disk, { userDir: '/proc' })).to.have.length(2)
      expect((await patient.findings(disk, { userDir: '/proc' }))[1]).to.match(/^problem: \/proc: Nothing can be written: /)
    })
  })

  it('of the machine: heat, power and wear', async () => {
    patient.root.write({
      'sys/class/thermal/thermal_zone0/type': 'cpu-thermal\n',
      'sys/class/thermal/thermal_zone0/temp': '84000\n',
      'sys/devices/platform/soc/soc:firmware/get_throttled': '50005\n',
      'sys/block/mmcblk0/device/life_time': '0x02 0x09\n',
      'sys/block/mmcblk0/device/pre_eol_info': '0x01\n'
    })
    const found = await patient.findings(machine)
    expect(found).to.include.members([
      'problem: The processor has 84 °C.',
      'problem: Now: the supply voltage was too low, the processor was throttled.',
      'warning: The card mmcblk0 has used 90 % of its life.'
    ])
  })

  it('of the memory: little that is left', async () => {
    patient.root.write({ 'proc/meminfo': 'MemTotal: 1000000 kB\nMemAvailable: 50000 kB\n' })
    expect(await patient.findings(memory)).to.deep.equal(['warning: 51.2 MB of 1.02 GB are available.'])
  })

  it('of the clock: that it is trusted', async () => {
    patient.environment.SLUICE_CLOCK = 'trusted'
    expect(await patient.findings(clock)).to.deep.equal(['note: The clock is taken for right, as SLUICE_CLOCK=trusted asks for.'])
  })

  it('in file modes: secrets that others may read', async () => {
    patient.flow([broker, stageOut], { broker: { password: 'x' } })
    expect(await patient.findings(modes)).to.deep.equal([`ok: ${patient.userDir}: What holds secrets is for the gateway's user alone.`])
    chmodSync(join(patient.userDir, 'credential-secret'), 0o644)
    patient.root.write({ 'etc/sluice/login': 'ada:change:a password', 'etc/sluice/sluice.env': 'TZ=UTC' })
    chmodSync(join(patient.root.path, 'etc/sluice/login'), 0o644)
    expect(await patient.findings(modes)).to.deep.equal([
      `problem: ${patient.userDir}/credential-secret: Other users of this machine may read it.`,
      `problem: ${patient.root.path}/etc/sluice/login: Other users of this machine may read it.`
    ])
  })

  describe('at ports', () => {
    const simulator = { id: 'simulator', type: 'sluice-modbus-simulator', z: 'tab', connection: 'tcp', host: '127.0.0.1', wires: [] }

    /** A program that listens. @param {(port: number) => Promise<void>} use */
    async function occupied (use) {
      const server = createServer(socket => socket.destroy()).listen(0, '127.0.0.1')
      await once(server, 'listening')
      await use(/** @type {import('node:net').AddressInfo} */ (server.address()).port)
      server.close()
    }

    it('is another program on one of a node', () => occupied(async port => {
      patient.flow([{ ...simulator, port }])
      writeFileSync(join(patient.userDir, 'gateway.lock'), '')
      const found = await patient.findings(ports, { port })
      expect(found).to.include(`problem: port ${port}: Another program listens on the port of the editor.`)
      expect(found).to.include(`problem: modbus simulator simulator: Another program listens on its port ${port}.`)
    }))

    it('is a node that does not listen although the gateway runs, and two with one port', async () => {
      let free = 0
      await occupied(async port => { free = port })
      patient.flow([{ ...simulator, port: free }, { ...simulator, id: 'second', port: free }])
      const found = await patient.findings(ports, { credentialsOf: () => undefined })
      expect(found).to.include(`problem: modbus simulator simulator: It does not listen on port ${free}.`)
      expect(found[0]).to.match(/^problem: .*: Several nodes are to listen on port/)
    })
  })

  describe('at serial lines', () => {
    const device = (/** @type {string} */ path) => [
      { id: 'device', type: 'sluice-modbus-device', connection: 'rtu', path },
      { id: 'read', type: 'sluice-modbus-read', z: 'tab', device: 'device', wires: [] }
    ]

    it('is one that is not there, and one that is none', async () => {
      patient.flow(device('/dev/ttyNONE9'))
      expect(await patient.findings(serial)).to.deep.equal(['problem: /dev/ttyNONE9, modbus device device: There is no such serial port.'])
      patient.flow(device(patient.userDir))
      expect((await patient.findings(serial))[0]).to.match(/^problem: .*It is no serial port\.$/)
    })

    it('is one that the gateway\'s user may not use, though who asks may', async function () {
      if (!existsSync('/dev/console')) return this.skip()
      patient.root.write({
        [`proc/${process.pid}/status`]: 'Name:\tnode\nUid:\t990\t990\t990\t990\nGid:\t990\t990\t990\t990\nGroups:\t990 \n',
        'etc/passwd': 'sluice:x:990:990::/var/lib/sluice:/bin/false\n',
        'etc/group': 'dialout:x:20:\nroot:x:0:\n'
      })
      patient.flow(device('/dev/console'))
      const found = await patient.findings(serial, { credentialsOf: () => undefined })
      expect(found[0]).to.match(/^problem: \/dev\/console, modbus device device: sluice may not use it: it is for the group \S+\.$/)
    })
  })

  describe('at CAN interfaces', () => {
    const bus = [
      { id: 'bus', type: 'sluice-can-bus', kind: 'socketcan', interface: 'can7', bitrate: 250000, sending: true },
      { id: 'read', type: 'sluice-can-read', z: 'tab', bus: 'bus', wires: [] }
    ]

    /** @param {object} [data]  of the link @param {string} [flags] */
    function link (data = {}, flags = '0x40081') {
      const counters = ['rx_packets', 'tx_packets', 'rx_dropped', 'rx_over_errors', 'rx_fifo_errors', 'rx_missed_errors']
      patient.root.write({
        'sys/class/net/can7/flags': `${flags}\n`,
        'sys/class/net/can7/operstate': 'up\n',
        ...Object.fromEntries(counters.map((name, i) => [`sys/class/net/can7/statistics/${name}`, i === 2 ? '12\n' : '0\n']))
      })
      patient.programs.ip = JSON.stringify([{ txqlen: 10, linkinfo: { info_kind: 'can', info_data: data } }])
    }

    const its = async () => (await patient.findings(can)).filter(text => !text.includes('The package socketcan'))

    it('is one that is not there, or down', async () => {
      patient.flow(bus)
      expect(await its()).to.deep.equal(['problem: can7, can bus bus: There is no such interface.'])
      link({}, '0x40080')
      expect(await its()).to.deep.equal(['problem: can7, can bus bus: The interface is down.'])
    })

    it('is one with another bit rate, off the bus, with a short queue, and with frames that were lost', async () => {
      patient.flow(bus)
      link({ state: 'BUS-OFF', bittiming: { bitrate: 500000 }, restart_ms: 0, berr_counter: { tx: 248, rx: 3 } })
      expect(await its()).to.deep.equal([
        'problem: can7, can bus bus: The controller is off the bus: bus-off (error counters: 248 sending, 3 receiving).',
        'problem: can7, can bus bus: The interface has 500000 bit/s, the node says 250000.',
        'warning: can7, can bus bus: Its queue holds 10 frames: a burst of more is refused.',
        'note: can7, can bus bus: After bus-off it stays off until somebody restarts it.',
        'warning: can7, can bus bus: 12 frames were lost in the controller or for lack of memory since it exists.'
      ])
    })

    it('is nothing where there is none in the flow', async () => {
      patient.flow([])
      expect(await patient.findings(can)).to.deep.equal([])
    })
  })
})
