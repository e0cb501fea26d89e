import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { start } from '../../gateway/cli/start.js'

const unit = readFileSync('packaging/systemd/sluice.service', 'utf8')

/** The values of a setting of the unit. @param {string} name */
function settings (name) {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value)
}

async function usage () {
  const stdout = new PassThrough()
  await start(['--help'], { stdin: process.stdin, stdout, stderr: stdout })
  return String(stdout.read())
}

describe('The unit of systemd', () => {
  it('starts the gateway with options that there are, as a user of its own', async () => {
    const [command] = settings('ExecStart')
    expect(command).to.match(/^\/usr\/bin\/sluice start /)
    const help = await usage()
    for (const [option] of command.matchAll(/--[a-z-]+/g)) expect(help).to.include(` ${option} `)
    expect(settings('User')).to.deep.equal(['sluice'])
    expect(readFileSync('packaging/systemd/sysusers.conf', 'utf8')).to.match(/^u sluice /m)
  })

  it('waits for what the gateway tells, and longer than it takes to stop', () => {
    expect(settings('Type')).to.deep.equal(['notify'])
    expect(settings('NotifyAccess')).to.deep.equal(['all']) // systemd-notify is a process of its own
    const [, seconds] = /DRAIN_MS = (\d+)_000/.exec(readFileSync('gateway/run/start.js', 'utf8')) ?? []
    expect(Number(settings('TimeoutStopSec')[0])).to.be.at.least(Number(seconds) + 10)
  })

  it('lets V8 compile, and the gateway reach CAN, serial ports and its own folder', () => {
    expect(settings('MemoryDenyWriteExecute')).to.deep.equal([])
    expect(settings('RestrictAddressFamilies')[0].split(' ')).to.include.members(['AF_CAN', 'AF_NETLINK', 'AF_UNIX'])
    expect(settings('DeviceAllow')).to.deep.equal(['char-tty* rw'])
    expect(settings('PrivateDevices')).to.deep.equal([])
    expect(settings('StateDirectory')).to.deep.equal(['sluice'])
    expect(settings('ExecStart')[0]).to.include('--user-dir /var/lib/sluice')
  })
})

describe('The settings of the service', () => {
  it('are options of sluice start', async () => {
    const help = await usage()
    const names = [...readFileSync('packaging/deb/sluice.env', 'utf8').matchAll(/^#?SLUICE_([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(names).to.include.members(['PORT', 'HOST', 'LOGIN_FILE'])
    for (const name of names) expect(help).to.include(` --${name.toLowerCase().replaceAll('_', '-')} `)
  })
})
