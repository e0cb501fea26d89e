import { basename } from 'node:path'
import { buildPackage } from './build.js'
import { Machine } from './machine.js'

const OLD_VERSION = '0.0.1'
const ENV = '/etc/sluice/sluice.env'
const NODE = '/usr/lib/sluice/bin/node'
const NODE_RED = '/usr/lib/sluice/app/node_modules/node-red/red.js'
const DATABASE = '/var/lib/sluice/sluice/sluice.sqlite'
const COUNT = `const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync('${DATABASE}', { timeout: 10000, readOnly: true })
console.log(database.prepare('SELECT count(*) AS rows FROM machine').get().rows)`

/**
 * Lives through what happens to the package in years, in a Debian of its own, and says what it sees.
 * @param {object} options
 * @param {string} options.payload
 * @param {string} options.suite  of Debian
 * @param {string} options.folder  for all that is made
 */
export async function testPackage ({ payload, suite, folder }) {
  const older = buildPackage({ payload, folder, version: OLD_VERSION, settings: '# Of an older version\n' })
  const newer = buildPackage({ payload, folder })
  say(`Packages: ${basename(older)}, ${basename(newer)}`)
  const machine = new Machine(folder)
  try {
    machine.build(suite, [older, newer])
    await machine.boot()
    say(`Debian ${machine.run('cat /etc/debian_version')} runs, with ${machine.run('systemctl --version').split('\n')[0]}`)
    await install(machine, older)
    await survive(machine)
    await upgrade(machine, newer)
    await misconfigure(machine)
    checkUnit(machine)
    leave(machine)
  } finally {
    await machine.stop()
  }
}

/** @param {Machine} machine @param {string} older */
async function install (machine, older) {
  machine.run(apt('install', `/root/${basename(older)}`))
  const [name, groups] = machine.run('ps -o user=,supgrp= -p $(systemctl show -P MainPID sluice)').split(/\s+/)
  expect(name === 'sluice' && groups.split(',').includes('dialout'), `runs as ${name}, in the groups ${groups}`)
  expect(property(machine, 'ActiveState') === 'active', `is active after apt install: ${property(machine, 'StatusText')}`)
  expect(mode(machine, '/var/lib/sluice') === '700 sluice', 'has its folder for itself')
  expect(fetches(machine, 1881, 'sluice/health').includes('running'), 'answers on 127.0.0.1:1881')
  await machine.until(count(), text => Number(text) > 1000)
  expect(true, `has stored ${machine.run(count())} rows of its simulated machine in SQLite`)
  const nodeRed = `${NODE} ${NODE_RED} --userDir /root/node-red`
  machine.run(`systemd-run --quiet --unit=node-red --setenv=HOME=/root ${nodeRed}`)
  await machine.until(fetchCommand(1880, ''), text => text.includes('<title>Node-RED'))
  expect(fetches(machine, 1881, '').includes('<title>Sluice'), 'runs beside a Node-RED on port 1880')
}

/** @param {Machine} machine */
async function survive (machine) {
  machine.run('kill -KILL $(systemctl show -P MainPID sluice)')
  await machine.until('systemctl show -P NRestarts -P ActiveState sluice | sort', text => text === '1\nactive')
  expect(true, 'is started again after it was killed')
  machine.run('mkdir -p /run/systemd/system/sluice.service.d')
  machine.run('printf "[Service]\\nWatchdogSec=5\\n" > /run/systemd/system/sluice.service.d/watchdog.conf')
  machine.run('systemctl daemon-reload && systemctl restart sluice')
  machine.run('sleep 15') // three times as long as it may be silent
  expect(property(machine, 'NRestarts') === '0', 'shows that it lives')
  machine.run('kill -STOP $(systemctl show -P MainPID sluice)')
  await machine.until('systemctl show -P NRestarts -P ActiveState sluice | sort', text => text === '1\nactive')
  expect(machine.run('journalctl -u sluice').includes('Watchdog timeout'), 'is started again by the watchdog when it hangs')
  machine.run('rm -r /run/systemd/system/sluice.service.d && systemctl daemon-reload')
  machine.run('systemctl stop sluice')
  expect(property(machine, 'ExecMainStatus') === '0' && property(machine, 'Result') === 'success',
    'stores what is on its way when it is stopped')
  machine.run('systemctl start sluice')
}

/** @param {Machine} machine @param {string} newer */
async function upgrade (machine, newer) {
  machine.run(`echo SLUICE_ALLOW_HOST=plant.example >> ${ENV}`)
  const process = property(machine, 'MainPID')
  const rows = Number(machine.run(count()))
  machine.run(apt('install', '-o Dpkg::Options::=--force-confold', `/root/${basename(newer)}`))
  expect(machine.run(`cat ${ENV}`).endsWith('plant.example'), 'keeps changed settings in an upgrade')
  expect(!machine.run(`cat ${ENV}.dpkg-dist`).includes('older'), 'puts new ones beside them')
  expect(property(machine, 'MainPID') !== process && property(machine, 'ActiveState') === 'active', 'is restarted by an upgrade')
  expect(Number(machine.run(count())) >= rows, `has its ${rows} rows after it`)
  machine.run('systemctl disable --now sluice')
  machine.run(apt('install', '--reinstall', `/root/${basename(newer)}`))
  expect(machine.try('systemctl is-enabled sluice').text === 'disabled' && property(machine, 'ActiveState') === 'inactive',
    'stays disabled in an upgrade where it was')
  machine.run('systemctl enable --now sluice')
}

/** @param {Machine} machine */
async function misconfigure (machine) {
  machine.run(`sed -i s/^SLUICE_PORT=.*/SLUICE_PORT=1880/ ${ENV}`)
  machine.try('systemctl restart --no-block sluice')
  await machine.until('journalctl -u sluice', text => text.includes('SLUICE_PORT_TAKEN'))
  expect(machine.run('journalctl -u sluice').includes('with --port or SLUICE_PORT'), 'says that its port is taken')
  machine.run(`sed -i s/^SLUICE_PORT=.*/SLUICE_PORT=editor/ ${ENV}`)
  machine.try('systemctl restart --no-block sluice')
  await machine.until('systemctl show -P ActiveState sluice', text => text === 'failed')
  expect(property(machine, 'ExecMainStatus') === '2', 'is left alone with settings that it cannot understand')
  machine.run(`sed -i s/^SLUICE_PORT=.*/SLUICE_PORT=1881/ ${ENV}`)
  machine.run('systemctl restart sluice')
}

/** @param {Machine} machine */
function checkUnit (machine) {
  const verified = machine.run('systemd-analyze verify sluice.service')
  expect(verified === '', `has a unit that systemd-analyze verifies${verified}`)
  const exposure = machine.run('systemd-analyze security --no-pager sluice.service').split('\n').findLast(line => line.includes('exposure'))
  expect(/: [01]\.\d /.test(exposure ?? ''), String(exposure).replace(/^\W+/, ''))
}

/** @param {Machine} machine */
function leave (machine) {
  machine.run(apt('remove', 'sluice'))
  const left = machine.run(LEFT)
  expect(left.includes(ENV) && left.includes(DATABASE) && !left.includes('/usr/lib/sluice'), 'leaves settings and data when it is removed')
  expect(machine.try('pgrep -u sluice').text === '', 'runs no more')
  machine.run(`touch /etc/sluice/login && ${apt('purge', 'sluice')}`)
  expect(machine.run(LEFT) === '', 'leaves nothing when it is purged')
  expect(machine.try('grep sluice /etc/passwd /etc/group /etc/shadow').text === '', 'leaves no user')
}

/** All that has its name, but for the package itself, which we brought. */
const LEFT = 'find / -xdev -path /root -prune -o -path "*sluice*" -print; systemctl list-unit-files --no-legend | grep sluice || true'

/** @param {...string} args */
function apt (...args) {
  return `apt-get -qy --no-download ${args.join(' ')}`
}

/** @param {Machine} machine @param {string} name */
function property (machine, name) {
  return machine.run(`systemctl show -P ${name} sluice`)
}

/** @param {Machine} machine @param {string} path */
function mode (machine, path) {
  return machine.run(`stat -c '%a %U' ${path}`)
}

function count () {
  return `setpriv --reuid=sluice --regid=sluice --init-groups ${NODE} -e "${COUNT}"`
}

/** @param {number} port @param {string} path */
function fetchCommand (port, path) {
  return `${NODE} -e "fetch('http://127.0.0.1:${port}/${path}').then(r => r.text()).then(console.log)"`
}

/** @param {Machine} machine @param {number} port @param {string} path */
function fetches (machine, port, path) {
  return machine.run(fetchCommand(port, path))
}

/** @param {boolean} isSo @param {string} what */
function expect (isSo, what) {
  if (!isSo) throw new Error(`This is not so: the gateway ${what}.`)
  say(`  ${what}`)
}

/** @param {string} line */
function say (line) {
  console.log(line)
}
