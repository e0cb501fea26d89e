// Makes a fresh clone ready to run: `npm start` and `npm test` call it first. It runs on the machine's own Node, however old (18 or newer),
// and before anything is installed, so it imports nothing but Node's own modules.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** What the tests talk to: Debian's packages, a program of each, and what is skipped without it. */
const SERVERS = [
  {
    packages: ['mosquitto'],
    program: 'mosquitto',
    folders: ['/usr/sbin'],
    skipped: 'broker contract on Mosquitto, kill tests, end to end'
  },
  { packages: ['mosquitto-clients'], program: 'mosquitto_sub', skipped: 'checks by an independent MQTT client' },
  {
    packages: ['postgresql-15', 'postgresql'],
    program: 'initdb',
    folders: postgresFolders(),
    skipped: 'PostgreSQL sink, kill tests, end to end'
  },
  { packages: ['mariadb-server'], program: 'mariadbd', folders: ['/usr/sbin'], skipped: 'MySQL/MariaDB sink and kill tests' },
  { packages: ['influxdb'], program: 'influxd', folders: ['/usr/sbin'], skipped: 'InfluxDB sink and kill tests' },
  { packages: ['influxdb-client'], program: 'influx', skipped: 'the bench\'s bulk load of InfluxDB' },
  { packages: ['clickhouse-server'], program: 'clickhouse-server', skipped: 'ClickHouse sink on an old server' },
  { packages: ['clickhouse-client'], program: 'clickhouse-client', skipped: 'the bench\'s bulk load of an old ClickHouse' },
  { packages: ['sqlite3'], program: 'sqlite3', skipped: 'checks by an independent SQLite' },
  { packages: ['can-utils'], program: 'candump', skipped: 'checks by candump and its kin' },
  { packages: ['socat'], program: 'socat', skipped: 'Modbus over serial lines' },
  { packages: ['libmodbus5'], program: 'libmodbus.so.5', folders: libraryFolders(), skipped: 'Modbus against libmodbus' },
  { packages: ['python3-pip'], program: 'pip3', skipped: 'Modbus, DBC and Sparkplug against independent programs' },
  { packages: ['faketime'], program: 'faketime', skipped: 'a machine whose clock is not set' },
  { packages: ['default-jre-headless'], program: 'java', skipped: 'Cassandra and Kafka sinks and kill tests' },
  { packages: ['default-jdk-headless'], program: 'javac', isForEngines: true, skipped: 'the job of engines/flink, a test of HBase' },
  { packages: ['maven'], program: 'mvn', skipped: 'Cassandra and Kafka sinks and kill tests' },
  { packages: ['systemd'], program: 'systemd-notify', skipped: 'what a gateway tells systemd' },
  { packages: ['chromium'], program: 'chromium', skipped: 'browser tests' }
]

installDependencies()
if (process.argv.includes('--tests')) {
  installServers()
  const engines = process.argv.filter(option => option === '--engines')
  const installed = ['clickhouse', 'java', 'node', 'node-red', 'python'].map(name => `servers/${name}/install.js`)
  const scripts = ['servers/go/build.js', ...installed, 'end-to-end/upgrade/fetch.js']
  // At once: most of the time each of them waits for what it fetches.
  await Promise.all(scripts.map(script => new Promise(resolve => {
    spawn(process.execPath, [join(root, 'test', script), ...engines], { cwd: root, stdio: 'inherit' }).once('close', resolve)
  })))
}

function installDependencies () {
  const lock = join(root, 'package-lock.json')
  const installed = join(root, 'node_modules', '.package-lock.json')
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return
  console.log('Installing the npm packages (about a minute, once).')
  const npm = run(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  if (npm.error || npm.status !== 0) {
    console.error('npm ci failed. Its messages are above; a proxy or registry that cannot be reached is the usual cause.')
    process.exit(1)
  }
}

function installServers () {
  const wanted = SERVERS.filter(({ isForEngines = false }) => !isForEngines || process.argv.includes('--engines'))
  const missing = wanted.filter(server => !isInstalled(server))
  if (missing.length === 0) return
  if (isRoot() && onPath('apt-get', [])) {
    console.log(`Installing for the tests: ${missing.map(({ packages }) => packages[0]).join(', ')}.`)
    apt(['update', '-qq'])
    if (!aptInstall(missing.map(({ packages }) => packages[0]))) {
      for (const { packages } of missing) packages.some(name => aptInstall([name]))
    }
  }
  const absent = missing.filter(server => !isInstalled(server))
  for (const { program, packages, skipped } of absent) {
    console.log(`${program} is missing (Debian package ${packages.join(' or ')}); skipped without it: ${skipped}.`)
  }
  if (absent.length > 0 && !isRoot()) {
    console.log(`To have them: sudo apt-get install ${absent.map(({ packages }) => packages[packages.length - 1]).join(' ')}`)
  }
}

/** @param {string[]} packages  of which none is installed where one is unknown */
function aptInstall (packages) {
  return apt(['install', '-y', '-qq', '--no-install-recommends', ...packages])
}

/** @param {string[]} args */
function apt (args) {
  return (
    spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
      .status === 0
  )
}

/** @param {string} command @param {string[]} args */
function run (command, args) {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
}

/** @param {{program: string, folders?: string[]}} server */
function isInstalled ({ program, folders = [] }) {
  return onPath(program, folders)
}

/** @param {string} program @param {string[]} more  folders that are not always on the PATH */
function onPath (program, more) {
  return [...(process.env.PATH || '').split(delimiter), ...more].some(folder => folder !== '' && existsSync(join(folder, program)))
}

function isRoot () {
  return typeof process.getuid === 'function' && process.getuid() === 0
}

/** Debian keeps each major version's programs in a folder of its own. */
function postgresFolders () {
  const base = '/usr/lib/postgresql'
  return existsSync(base) ? readdirSync(base).map(version => join(base, version, 'bin')) : []
}

/** Debian keeps the libraries of each architecture in a folder of its own. */
function libraryFolders () {
  return ['x86_64-linux-gnu', 'aarch64-linux-gnu', 'arm-linux-gnueabihf'].map(name => join('/usr/lib', name))
}
