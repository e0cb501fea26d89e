import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { connectAsync } from 'mqtt'
import { hasPassword } from '../../broker/access/mosquitto.js'
import { readCredentials } from '../../gateway/base/credentials.js'
import { sluice } from '../cli/process.js'
import { asRoot, requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { freePort, waitForPort } from '../servers/ports.js'
import { Machine } from './machine.js'

const STATE = 'root/opt/sluice/first-boot'
const FLOWS = 'root/var/lib/sluice/flows.json'

/** @typedef {{id: string, type: string, url?: string, [option: string]: any}} FlowNode */

/** A flow with one broker node. @param {string} [name] */
const flowOf = (name = 'mine') => JSON.stringify([
  { id: 'tab', type: 'tab', label: name }, { id: 'mine', type: 'sluice-broker', url: 'mqtt://127.0.0.1:1883', name }
])

/** @param {string} file */
function hasRows (file) {
  try {
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      return database.prepare('SELECT 1 FROM machine LIMIT 1').get() !== undefined
    } finally {
      database.close()
    }
  } catch {
    return false // not made yet
  }
}

describe('The flow after the first boot', () => {
  /** @type {Machine} */
  let machine
  /** @param {string} [settings] @param {Record<string, string>} [files]  on the boot partition */
  async function start (settings, files = {}) {
    machine ??= await Machine.make()
    if (settings !== undefined) await machine.write('boot/sluice.toml', settings)
    for (const [name, text] of Object.entries(files)) await machine.write(`boot/${name}`, text)
    return machine.start()
  }
  afterEach(async () => {
    await machine.remove()
    machine = /** @type {any} */ (undefined)
  })

  /** @returns {Promise<FlowNode[]>} */
  const flow = async () => JSON.parse(await machine.read(FLOWS) ?? '')
  const brokerNode = async () => (await flow()).find(({ type }) => type === 'sluice-broker')
  const account = async () => JSON.parse(await machine.read(`${STATE}/mosquitto/gateway.json`) ?? '')

  function credentials () {
    const userDir = join(machine.folder, 'root/var/lib/sluice')
    return readCredentials(userDir, join(userDir, 'flows.json'))
  }

  it('goes through the Mosquitto of the machine, whose account it has', async () => {
    await start()
    const { name, password } = await account()
    expect(name).to.equal((await machine.read('root/var/lib/sluice/sluice/gateway-id'))?.trim())
    expect(credentials()).to.deep.equal({ broker: { user: name, password } })
    expect(hasPassword((await machine.read(`${STATE}/mosquitto/sluice.passwords`) ?? '').trim(), password)).to.equal(true)
    expect(await machine.read(`${STATE}/mosquitto/sluice.acl`)).to.contain(`user ${name}\n`)
    const settings = await machine.read('root/etc/mosquitto/conf.d/sluice.conf')
    expect(settings).to.contain('listener 1883 127.0.0.1\nallow_anonymous false\n')
    expect(settings).to.not.match(/^(allow_anonymous true|persistence_location|listener 8883)/m)
  })

  it('is the imported one, whenever that is another, and has its broker then', async () => {
    await start('[flow]\nfile = "plant.json"\n', { 'plant.json': flowOf() })
    const { name, password } = await account()
    expect((await flow()).map(({ id }) => id)).to.deep.equal(['tab', 'mine'])
    expect(credentials()).to.deep.equal({ mine: { user: name, password } })
    const edited = JSON.stringify([...await flow(), { id: 'added', type: 'comment' }])
    await machine.write(FLOWS, edited)
    await start()
    expect(await machine.read(FLOWS), 'what was edited stays').to.equal(edited)
    await start(undefined, { 'plant.json': flowOf('changed') })
    expect((await brokerNode())?.name).to.equal('changed')
    expect(await machine.read('root/var/lib/sluice/flows.before-import.json')).to.equal(edited)
  })

  it('may be a file that Windows has put a byte order mark before', async () => {
    const { isRight, text } = await start('[flow]\nfile = "plant.json"\n', { 'plant.json': `\uFEFF${flowOf()}` })
    expect(isRight, text).to.equal(true)
    expect((await flow()).map(({ id }) => id)).to.deep.equal(['tab', 'mine'])
  })

  it('goes through the broker of sluice.toml, whenever that is another', async () => {
    const settings = '[broker]\nurl = "mqtts://broker.plant.lan:8883"\nuser = "gateway-7"\npassword = "battery staple"\nca = "ca.pem"\n'
    const { isRight, text } = await start(settings, { 'ca.pem': 'THE CERTIFICATE' })
    expect(isRight, text).to.equal(true)
    expect(await brokerNode()).to.include({ url: 'mqtts://broker.plant.lan:8883', ca: 'THE CERTIFICATE', verify: true })
    expect(credentials()).to.deep.equal({ broker: { user: 'gateway-7', password: 'battery staple' } })
    expect(text + await machine.read(FLOWS)).to.not.contain('battery staple')
    const elsewhere = (await machine.read(FLOWS) ?? '').replace('broker.plant.lan', 'edited.lan')
    await machine.write(FLOWS, elsewhere)
    await start()
    expect((await brokerNode())?.url, 'what was edited stays').to.equal('mqtts://edited.lan:8883')
    const told = await start(settings.replace('plant.lan', 'other.lan'))
    expect(told.text).to.contain('No MQTT broker node of the flow has the address mqtts://broker.plant.lan:8883')
    await machine.write(FLOWS, elsewhere.replace('edited.lan', 'broker.other.lan'))
    await start('')
    expect((await brokerNode())?.url, 'back to its own').to.equal('mqtt://127.0.0.1:1883')
    expect((credentials()).broker.user).to.equal((await account()).name)
  })

  it('stays where a flow or a broker is wrong, which is told', async () => {
    for (const [settings, files, problem] of /** @type {[string, Record<string, string>, RegExp][]} */ ([
      ['[flow]\nfile = "plant.json"\n', {}, /SLUICE_FIRST_BOOT: There is no plant.json on the boot partition/],
      ['[flow]\nfile = "plant.json"\n', { 'plant.json': '{"a": 1}' }, /SLUICE_FLOW_FILE: The flow cannot be read/],
      ['[flow]\nfile = "../plant.json"\n', {}, /\[flow\] file must look like flow.json/],
      ['[broker]\nurl = "broker.plant.lan"\n', {}, /\[broker\] url must look like/],
      ['[broker]\nurl = "mqtts://a"\nca = "ca.pem"\n', {}, /There is no ca.pem/]
    ])) {
      expect((await start(settings, files)).text).to.match(problem)
      expect(await brokerNode()).to.include({ id: 'broker', url: 'mqtt://127.0.0.1:1883' })
    }
  })

  it('is not changed while a gateway runs on it', async () => {
    await start()
    const gateway = sluice('start', '--user-dir', machine.userDir, '--port', '0', '--flows', join(machine.folder, FLOWS))
    try {
      await gateway.says(/Ctrl-C/)
      expect((await start('[broker]\nurl = "mqtts://a"\n')).text).to.contain('SLUICE_USER_DIR_IN_USE')
      expect((await brokerNode())?.url).to.equal('mqtt://127.0.0.1:1883')
    } finally {
      gateway.child.kill('SIGKILL')
      await gateway.exit
    }
  })

  it('has accounts for devices, and lets them in from the network where that is wanted', async () => {
    const device = '[[device]]\nname = "meter"\npassword = "battery staple"\ntopics = ["energy/#"]\n'
    await start(`[mosquitto]\nlisten = "tls"\n${device}`)
    const acl = await machine.read(`${STATE}/mosquitto/sluice.acl`)
    expect(acl).to.contain('user meter\ntopic read $SYS/broker/version\ntopic write energy/#\n')
    expect(acl).to.contain('topic read energy/#\n')
    const settings = await machine.read('root/etc/mosquitto/conf.d/sluice.conf')
    expect(settings).to.contain('listener 1883 127.0.0.1\nlistener 8883\ncertfile /opt/sluice/first-boot/mosquitto/tls.crt\n')
    const passwords = await machine.read(`${STATE}/mosquitto/sluice.passwords`)
    await start()
    expect(machine.commands).to.deep.equal([])
    await start(`[mosquitto]\nlisten = "plain"\n${device.replace('staple', 'horse')}`)
    const [gateway, meter] = (await machine.read(`${STATE}/mosquitto/sluice.passwords`) ?? '').trim().split('\n')
    expect(passwords?.startsWith(gateway)).to.equal(true)
    expect(hasPassword(meter, 'battery horse')).to.equal(true)
    expect(await machine.read('root/etc/mosquitto/conf.d/sluice.conf')).to.contain('\nlistener 1883\nlistener 8883\n')
  })

  describe('with a Mosquitto', () => {
    /** @type {Awaited<ReturnType<typeof startMosquitto>>|undefined} */
    let mosquitto
    /** Those that Mosquitto listens on here, instead of 1883 and 8883. @type {[number, number]} */
    let ports

    before(function () { requireMosquitto(this) })
    afterEach(() => mosquitto?.stop())

    /** With the settings of the machine. */
    async function startOwn () {
      ports = [await freePort(), await freePort()]
      await machine.write(FLOWS, (await machine.read(FLOWS) ?? '').replace('127.0.0.1:1883', `127.0.0.1:${ports[0]}`))
      const settings = (await machine.read('root/etc/mosquitto/conf.d/sluice.conf') ?? '')
        .replaceAll('/opt/sluice/first-boot', join(machine.folder, STATE))
        .replace('listener 1883 127.0.0.1', `listener ${ports[0]} 127.0.0.1`).replace('\nlistener 8883', `\nlistener ${ports[1]} 127.0.0.1`)
      const confText = [settings, ...asRoot(), `persistence_location ${machine.folder}/`, ''].join('\n')
      mosquitto = await startMosquitto({ port: ports[0], confText })
      if (settings.includes(`\nlistener ${ports[1]}`)) await waitForPort(ports[1])
    }

    it('stores what it measures, logged in at the broker and at the editor, over TLS', async () => {
      await start()
      await startOwn()
      const [cert, key] = ['tls.crt', 'tls.key'].map(name => join(machine.folder, STATE, name))
      const gateway = sluice('start', '--user-dir', machine.userDir, '--port', '0', '--tls-cert', cert, '--tls-key', key)
      try {
        const [, url] = await gateway.says(/Editor +(https:\S+)\/[^]*Ctrl-C/)
        const ca = await readFile(cert)
        const password = await machine.randomPassword()
        const headers = { authorization: `Basic ${btoa(`admin:${password}`)}` }
        const [response] = await once(request(`${url}/sluice/`, { ca, headers, agent: false }).end(), 'response')
        expect(response.resume().statusCode).to.equal(200)
        while (!hasRows(join(machine.userDir, 'sluice', 'sluice.sqlite'))) await sleep(50)
      } finally {
        gateway.child.kill('SIGKILL')
        await gateway.exit
      }
    })

    it('reads what a device publishes, over TLS, by an account of its own', async () => {
      await start('[mosquitto]\nlisten = "tls"\n[[device]]\nname = "meter"\npassword = "battery staple"\ntopics = ["energy/#"]\n')
      await startOwn()
      const { name, password } = await account()
      const gateway = await connectAsync(`mqtt://127.0.0.1:${ports[0]}`, { username: name, password })
      const ca = await machine.read(`${STATE}/tls.crt`) ?? ''
      const meter = await connectAsync(`mqtts://127.0.0.1:${ports[1]}`, { username: 'meter', password: 'battery staple', ca })
      try {
        await gateway.subscribeAsync('energy/#', { qos: 1 })
        const heard = new Promise(resolve => gateway.once('message', (topic, payload) => resolve([topic, String(payload)])))
        await meter.publishAsync('energy/total', '17', { qos: 1 })
        expect(await heard).to.deep.equal(['energy/total', '17'])
      } finally {
        await Promise.all([gateway.endAsync(), meter.endAsync()])
      }
    })
  })
})
