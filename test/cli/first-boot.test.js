import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { expect } from 'chai'
import { Machine } from '../first-boot/machine.js'
import { sluice } from './process.js'

describe('sluice first-boot', () => {
  it('tries everything below another root, and says what it would have run, and no password', async () => {
    const machine = await Machine.make('[system]\nhost_name = "gateway-7"\n')
    try {
      const folders = ['--boot', join(machine.folder, 'boot'), '--root', join(machine.folder, 'root')]
      const { code, stdout, stderr } = await sluice('first-boot', ...folders).exit
      expect(code, stderr).to.equal(0)
      expect(stderr).to.match(/^Not run: hostname gateway-7$/m)
      const { fingerprint256 } = new X509Certificate(await machine.read('root/opt/sluice/first-boot/tls.crt') ?? '')
      expect(stdout).to.contain('https://gateway-7.local:1880/').and.contain(fingerprint256)
      const password = await machine.randomPassword()
      expect(stdout + stderr).to.not.contain(password)
      await machine.write('boot/sluice.toml', '[sistem]\n')
      const wrong = await sluice('first-boot', ...folders).exit
      expect(wrong.code).to.equal(1)
      expect(wrong.stdout).to.contain('SLUICE_TOML_VALUE: Line 1: There is no table [sistem].')
    } finally {
      await machine.remove()
    }
  })

  it('refuses options it does not have', async () => {
    const { code, stderr } = await sluice('first-boot', '--boots', '/boot').exit
    expect(code).to.equal(2)
    expect(stderr).to.contain('Usage: sluice first-boot')
  })
})
