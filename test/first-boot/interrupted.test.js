import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { firstBoot } from '../../gateway/first-boot/first-boot.js'
import { Machine } from './machine.js'

const SETTINGS = `[system]
host_name = "gateway-7"
[wifi]
ssid = "plant"
country = "DE"
[ssh]
keys = ["ssh-ed25519 ${'A'.repeat(68)}"]
[mosquitto]
listen = "tls"
[[can]]
name = "can0"
`
const FLOW = 'root/var/lib/sluice/flows.json'
const APPLIED = 'root/opt/sluice/first-boot/applied.json'

describe('The first boot that something goes wrong in', () => {
  /** @type {Machine} */
  let machine
  afterEach(() => machine.remove())

  it('runs every program at the next start where it was killed before one had ended', async function () {
    this.timeout(60_000)
    machine = await Machine.make(SETTINGS)
    await machine.start()
    const all = machine.commands
    expect(all).to.have.length.above(6)
    for (let i = 0; i < all.length; i++) {
      await machine.remove()
      machine = await Machine.make(SETTINGS)
      await killedAt(machine, i)
      await machine.start()
      expect(machine.commands, `killed in ${all[i]}`).to.include.members(all.slice(i))
    }
    await machine.start()
    expect(machine.commands).to.deep.equal([])
  })

  it('runs a program again that has failed', async () => {
    machine = await Machine.make(SETTINGS)
    const chown = 'chown root:sluice /root/opt/sluice/first-boot/tls.key'
    const { root, boot } = foldersOf(machine)
    const { text } = await firstBoot({ root, boot, run: async program => { if (program === 'chown') throw new Error('chown has failed') } })
    expect(text).to.contain('chown has failed')
    await machine.start()
    expect(machine.commands).to.include(chown)
    await machine.start()
    expect(machine.commands).to.deep.equal([])
  })

  it('keeps the flow of before where it was killed once the imported one was there', async () => {
    machine = await Machine.make('')
    await machine.start()
    const applied = await machine.read(APPLIED) ?? ''
    const own = JSON.stringify([{ id: 'own', type: 'tab', label: 'made by hand' }])
    await machine.write(FLOW, own)
    await machine.write('boot/plant.json', JSON.stringify([{ id: 'broker', type: 'sluice-broker', url: '' }]))
    await machine.write('boot/sluice.toml', '[flow]\nfile = "plant.json"\n')
    await machine.start()
    await machine.write(APPLIED, applied) // what was written last
    await machine.start()
    expect(await machine.read('root/var/lib/sluice/flows.before-import.json')).to.equal(own)
    expect(await machine.read(FLOW)).to.contain('sluice-broker')
  })

  it('takes nothing away where the card does not give sluice.toml, and says so', async () => {
    machine = await Machine.make(SETTINGS)
    await machine.start()
    const before = Object.keys(await machine.files())
    await rm(join(machine.folder, 'boot/sluice.toml'))
    await mkdir(join(machine.folder, 'boot/sluice.toml')) // it is there, and cannot be read
    const { text } = await machine.start()
    expect(text).to.contain('sluice.toml cannot be read')
    expect(before.filter(path => path !== 'boot/sluice.toml')).to.deep.equal(Object.keys(await machine.files()))
    expect(machine.commands).to.deep.equal([])
  })
})

/** Until it runs the program of that number, which does not end. @param {Machine} machine @param {number} number */
function killedAt (machine, number) {
  return new Promise(resolve => {
    let ran = 0
    firstBoot({ ...foldersOf(machine), run: () => ran++ < number ? Promise.resolve() : new Promise(() => resolve(undefined)) })
  })
}

/** @param {Machine} machine */
function foldersOf ({ folder }) {
  return { root: join(folder, 'root'), boot: join(folder, 'boot') }
}
