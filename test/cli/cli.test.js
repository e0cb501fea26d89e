import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { sluice } from './process.js'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

describe('Command line', () => {
  it('names its commands', async () => {
    const { code, stdout } = await sluice('--help').exit
    expect(code).to.equal(0)
    for (const command of ['start', 'decode', 'preflight', 'dead-letters', 'sinks', 'doctor', 'monitor', 'bench']) {
      expect(stdout).to.contain(`\n  ${command} `)
    }
  })

  it('tells its version', async () => {
    expect(await sluice('--version').exit).to.include({ code: 0, stdout: `${version}\n` })
  })

  it('refuses what it does not know', async () => {
    const { code, stdout, stderr } = await sluice('constructor').exit
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
    expect(stderr).to.match(/^sluice: there is no command "constructor"\./)
  })

  it('shows its usage when asked for nothing', async () => {
    expect(await sluice().exit).to.include({ code: 2, stdout: '' })
  })

  it('refuses bad options of start', async () => {
    const { code, stderr } = await sluice('start', '--port', '99999').exit
    expect(code).to.equal(2)
    expect(stderr).to.match(/^sluice start: --port must be a number from 0 to 65535; it is "99999"\./)
    expect((await sluice('start', '--nonsense').exit).code).to.equal(2)
  })
})
