import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { setUsers } from '../../gateway/cli/login.js'
import { readUsers } from '../../gateway/web/users.js'
import { Machine } from './machine.js'

describe('The password of the first boot', () => {
  /** @type {Machine} */
  let machine
  /** @param {string} [settings] */
  async function make (settings) {
    machine = await Machine.make(settings)
    return machine
  }
  afterEach(() => machine.remove())

  it('without a sluice.toml makes a random password, which stands on the card and the screen, and nowhere else', async () => {
    await make()
    const { text, secret, isRight } = await machine.start()
    const password = await machine.randomPassword()
    expect(password).to.match(/^[a-hjkmnp-z2-9]{4}(-[a-hjkmnp-z2-9]{4}){4}$/)
    expect(await machine.letsIn(password)).to.equal(true)
    expect(secret).to.contain(`User admin, password ${password}\n`)
    expect(isRight, text).to.equal(true)
    const holding = Object.entries(await machine.files()).filter(([, content]) => content.includes(password)).map(([path]) => path)
    expect(holding).to.deep.equal(['boot/sluice-password.txt', 'root/run/issue.d/sluice.issue'])
    expect(text).to.not.contain(password)
    const { mode } = await stat(join(machine.folder, 'root/run/issue.d/sluice.issue'))
    expect((mode & 0o777).toString(8)).to.equal('600')
  })

  it('takes over the password of sluice.toml and removes it there, with the random one', async () => {
    await make()
    await machine.start()
    await machine.write('boot/sluice.toml', '# mine\r\n[editor]\r\npassword = "correct horse" # a good one\r\nnames = []\r\n')
    const { text, isRight } = await machine.start()
    expect(isRight, text).to.equal(true)
    expect(await machine.letsIn('correct horse')).to.equal(true)
    expect(await machine.read('boot/sluice.toml')).to.match(/^# mine\r\n\[editor\]\r\n# The password was taken over.*\r\nnames = \[\]\r\n$/)
    expect(await machine.read('boot/sluice-password.txt')).to.equal(null)
    expect(Object.entries(await machine.files()).filter(([, content]) => content.includes('correct horse'))).to.deep.equal([])
    await machine.start()
    expect(await machine.letsIn('correct horse')).to.equal(true)
  })

  it('takes the random password away once it was changed on the machine, and makes another one when nobody may log in', async () => {
    await make()
    await machine.start()
    const first = await machine.randomPassword()
    await setUsers(machine.userDir, 'admin:change:correct horse\n')
    const { secret } = await machine.start()
    expect(await machine.read('boot/sluice-password.txt')).to.equal(null)
    expect(secret).to.not.contain('password')
    await rm(join(machine.userDir, 'users.json'))
    await machine.start()
    expect(await machine.randomPassword()).to.have.length(24).and.not.equal(first)
    expect(await machine.letsIn(await machine.randomPassword())).to.equal(true)
  })

  it('makes no password that nobody could read', async () => {
    await make()
    await machine.write('boot/sluice-password.txt/in-the-way', '')
    const { text, isRight } = await machine.start()
    expect(isRight).to.equal(false)
    expect(text).to.contain('EISDIR')
    expect(readUsers(machine.userDir).size).to.equal(0)
    await rm(join(machine.folder, 'boot/sluice-password.txt'), { recursive: true })
    await machine.start()
    expect(await machine.letsIn(await machine.randomPassword())).to.equal(true)
  })

  it('says so where the password cannot be removed', async () => {
    await make('editor = { password = "correct horse" }\n')
    const { text } = await machine.start()
    expect(text).to.contain('The editor\'s password holds, and could not be removed from sluice.toml. Delete it there.')
    expect(await machine.letsIn('correct horse')).to.equal(true)
  })
})
