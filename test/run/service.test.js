import { fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { watchFlow } from '../../gateway/run/flow-state.js'
import { Service } from '../../gateway/run/service.js'
import { NotifySocket, requireNotify } from '../servers/notify-socket.js'

const WATCHDOG_USEC = '60000'

describe('A gateway that systemd has started', () => {
  /** @type {NotifySocket} */
  let socket
  /** @type {string[]} */
  let logged

  before(function () { requireNotify(this) })
  beforeEach(async () => {
    socket = await NotifySocket.listen()
    logged = []
  })
  afterEach(() => socket.close())

  /** @param {NodeJS.ProcessEnv} [more] */
  function service (more) {
    return new Service({ PATH: process.env.PATH, NOTIFY_SOCKET: socket.path, ...more }, line => logged.push(line))
  }

  /** In a process of its own, which shows that it lives. @param {NotifySocket} hearing */
  function startService (hearing) {
    const env = { ...process.env, NOTIFY_SOCKET: hearing.path, WATCHDOG_USEC, WATCHDOG_PID: undefined }
    return fork(fileURLToPath(new URL('hanging-service.js', import.meta.url)), { env })
  }

  it('tells that it is ready, what it does, and that it stops, in this order', async () => {
    const told = service()
    const states = Array.from({ length: 20 }, (_, i) => `The flow has been deployed ${i} times.`)
    for (const state of states) told.ready(state)
    await told.stopping()
    await socket.hears('STOPPING=1')
    expect(socket.heard.slice(1))
      .to.deep.equal([...states.map(state => `READY=1\nSTATUS=${state}`), 'STOPPING=1\nSTATUS=Storing what is on its way.'])
    expect(logged).to.deep.equal([])
  })

  it('does not become ready again once it stops', async () => {
    const told = service()
    told.stopping()
    told.ready('The flow runs.')
    service().ready('Another one runs.')
    await socket.hears('READY=1\nSTATUS=Another')
    expect(socket.heard.join()).to.not.include('The flow runs.')
  })

  it('tells that it lives as long as its event loop turns, and no longer', async () => {
    const child = startService(socket)
    await socket.hears('WATCHDOG=1')
    child.send('hang')
    await socket.hears('STATUS=Turns again.')
    const { heard } = socket
    const hanging = heard.slice(heard.indexOf('STATUS=Hangs.'), heard.indexOf('STATUS=Turns again.'))
    expect(hanging.filter(text => text === 'WATCHDOG=1')).to.have.length.at.most(1) // which was on its way
    await socket.hears('WATCHDOG=1', heard.indexOf('STATUS=Turns again.'))
    child.kill('SIGKILL')
    await once(child, 'exit')
  })

  it('does not speak for a life that another process is to show', async () => {
    const other = await NotifySocket.listen()
    service({ WATCHDOG_USEC, WATCHDOG_PID: '1' }).ready('Is not asked.')
    await socket.hears('READY=1')
    const child = startService(other)
    await other.hears('WATCHDOG=1')
    await other.hears('WATCHDOG=1', other.heard.length)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await other.close()
    expect(socket.heard).to.not.include('WATCHDOG=1')
  })

  it('leaves nothing in the environment by which programs of a flow could speak for it', () => {
    const environment = { PATH: '/bin', NOTIFY_SOCKET: socket.path, WATCHDOG_USEC, WATCHDOG_PID: '1' }
    expect(new Service(environment, () => {})).to.be.an('object')
    expect(environment).to.deep.equal({ PATH: '/bin' })
  })

  it('says what is wrong where systemd cannot be told', async () => {
    const line = await new Promise(resolve => {
      new Service({ PATH: '/nowhere', NOTIFY_SOCKET: socket.path }, resolve).ready('The flow runs.')
    })
    expect(line).to.match(/^SLUICE_SERVICE_NOTIFY: systemd could not be told READY=1: .*ENOENT/)
  })
})

describe('The state of the flow', () => {
  /** @param {...import('../../gateway/run/flow-state.js').RuntimeEvent|'flows:started'} happened */
  function said (...happened) {
    const events = new EventEmitter()
    /** @type {string[]} */
    const lines = []
    watchFlow(events, { getNode: () => null }, line => lines.push(line))
    for (const event of happened) events.emit(typeof event === 'string' ? event : 'runtime-event', event)
    return lines
  }

  it('is said when it starts', () => {
    expect(said('flows:started', { id: 'runtime-state', payload: { state: 'start' } })).to.deep.equal(['The flow runs.'])
  })

  it('is said with what of it was not made', () => {
    const events = new EventEmitter()
    /** @type {string[]} */
    const lines = []
    watchFlow(events, { getNode: id => id === 'pump' ? {} : null }, line => lines.push(line))
    const flows = [{ id: 'pump', type: 'pump' }, { id: 'tank', type: 'tank', name: 'north' }, { id: 'drain', type: 'drain', d: true }]
    events.emit('flows:started', { config: { flows } })
    expect(lines).to.deep.equal(['The flow runs without what could not be started: tank north.'])
  })

  it('is said with the reason where it does not run', () => {
    expect(said(
      { id: 'runtime-state', payload: { state: 'stop', error: 'missing-types', types: ['tank', 'pump'] } },
      { id: 'runtime-state', payload: { state: 'stop', error: 'missing-modules', modules: [{ module: 'left-pad' }] } },
      { id: 'runtime-state', payload: { state: 'stop' } }
    )).to.deep.equal([
      'The flow does not run: missing-types tank pump.',
      'The flow does not run: missing-modules left-pad.',
      'The flow does not run: it was stopped.'
    ])
  })

  it('is not said of a deploy, nor of what is no state', () => {
    expect(said({ id: 'runtime-state', payload: { state: 'stop', deploy: true } }, { id: 'runtime-state' }, { id: 'node/added' }))
      .to.deep.equal([])
  })
})
