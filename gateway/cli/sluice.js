#!/usr/bin/env -S node --max-semi-space-size=16 --heap-growing-percent=40
// A small young generation is collected often, and with it the messages that have passed: the gateway takes some 80 MB less at a million
// values a second. The old one is collected once it has grown by two fifths: left to itself it grows to three times its size before it is
// looked at for the first time, and what it has taken from the system it keeps.
import { readFileSync } from 'node:fs'
import { describe, SluiceError } from '../base/errors.js'

/**
 * @typedef {{stdin: NodeJS.ReadableStream, stdout: NodeJS.WritableStream, stderr: NodeJS.WritableStream}} Streams
 * @typedef {(args: string[], streams: Streams) => Promise<number>} Command  resolves with the exit code
 */

/** @type {Record<string, {help: string, load: () => Promise<Command>}>} */
const COMMANDS = {
  start: { help: 'run the gateway: Node-RED with the Sluice nodes and a flow', load: async () => (await import('./start.js')).start },
  decode: { help: 'turn candump lines into signals, one JSON object a line', load: async () => (await import('./decode.js')).decode },
  preflight: { help: 'report what in a broker or in Kafka loses data', load: async () => (await import('./preflight.js')).preflight },
  'broker-acl': {
    help: 'write users and access rules for a Mosquitto',
    load: async () => (await import('./broker-acl.js')).brokerAcl
  },
  'dead-letters': {
    help: 'list, show or replay rows a database refused',
    load: async () => (await import('./dead-letters.js')).deadLetters
  },
  'first-boot': {
    help: 'set a machine up as the sluice.toml on its card says',
    load: async () => (await import('./first-boot.js')).firstBootCommand
  },
  sinks: { help: 'list the sinks the spool waits for, or forget one', load: async () => (await import('./sinks.js')).sinks },
  doctor: { help: 'check everything that goes wrong in the field', load: async () => (await import('./doctor.js')).doctor },
  copy: { help: 'copy history from one database to another', load: async () => (await import('./copy.js')).copy },
  grafana: { help: 'write a Grafana dashboard of what a sink has stored', load: async () => (await import('./grafana.js')).grafana },
  export: {
    help: 'write flow and files of a gateway into a folder, without its secrets',
    load: async () => (await import('./export.js')).exportBundle
  },
  apply: { help: 'make a gateway what such a folder says', load: async () => (await import('./apply.js')).applyBundle },
  monitor: { help: 'tell a bench elsewhere what this machine uses', load: async () => (await import('./monitor.js')).monitor },
  update: { help: 'install a release, and go back where it is not healthy', load: async () => (await import('./update.js')).update },
  bench: { help: 'measure the sinks and the whole pipeline', load: async () => (await import('../bench/bench.js')).bench }
}

const { version, engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

const USAGE = `Usage: sluice <command> [options]

${Object.entries(COMMANDS).map(([name, { help }]) => `  ${name.padEnd(14)}${help}`).join('\n')}

  sluice <command> --help    its options
  sluice --version
`

/** @type {Command} */
async function main ([name, ...args], streams) {
  if (name === '--version' || name === '-v') {
    streams.stdout.write(`${version}\n`)
    return 0
  }
  if (name === '--help' || name === '-h' || name === 'help') {
    streams.stdout.write(USAGE)
    return 0
  }
  if (!Object.hasOwn(COMMANDS, name ?? '')) {
    streams.stderr.write(name ? `sluice: there is no command "${name}".\n\n${USAGE}` : USAGE)
    return 2
  }
  checkNodeVersion()
  const command = await COMMANDS[name].load()
  return command(args, streams)
}

/** The modules of the commands import what older versions of Node do not have. @throws {SluiceError} SLUICE_NODE_VERSION */
function checkNodeVersion () {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [minMajor, minMinor] = engines.node.match(/\d+/g).map(Number)
  if (major > minMajor || major === minMajor && minor >= minMinor) return
  throw new SluiceError('SLUICE_NODE_VERSION', `Sluice needs Node ${minMajor}.${minMinor} or newer; this is Node ${process.versions.node}.`,
    { fix: 'Install a newer Node from https://nodejs.org.' })
}

try {
  process.exitCode = await main(process.argv.slice(2), process)
} catch (error) {
  process.stderr.write(`sluice: ${describe(error)}\n`)
  process.exitCode = 1
}
// What a command leaves open must not keep the process; what it has written must still get out.
process.stdout.write('', () => process.exit())
