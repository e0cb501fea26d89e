import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The jobs of engines/flink, built by Maven. It runs on any Node from 18, before anything else is installed.

const project = fileURLToPath(new URL('../../../engines/flink', import.meta.url))
const folder = fileURLToPath(new URL('../../../node_modules/.cache/sluice/flink', import.meta.url))
const stamp = join(folder, 'built.txt')

/** What Arrow and Flink reach into that modern Java keeps to itself. */
const OPENS = ['java.nio', 'java.lang', 'java.util', 'java.time'].map(name => `--add-opens=java.base/${name}=ALL-UNNAMED`)

/** What keeps a job from being started, or null. */
export function missingFlink () {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources()) return null
  return 'engines/flink is not built (npm run test:engines does it, which needs Maven and a JDK)'
}

/** Builds what has changed, and prints one line. @returns {boolean} */
export function buildFlink () {
  if (!missingFlink()) return say(true, 'engines/flink is built.')
  rmSync(folder, { recursive: true, force: true })
  const goals = ['-f', join(project, 'pom.xml'), 'package', `-Dfolder=${folder}`]
  const maven = spawnSync('mvn', ['-B', '-ntp', '-q', ...goals], { encoding: 'utf8' })
  if (maven.error || maven.status !== 0) {
    const why = maven.error ? 'Maven is missing' : maven.stdout.trim().split('\n')[0]
    return say(false, `engines/flink cannot be built: ${why}; skipped without it: its tests.`)
  }
  writeFileSync(stamp, sources()) // written last: it is complete
  return say(true, 'engines/flink has been built (95 MB of jars).')
}

/**
 * @param {string} main  class
 * @param {{temporary: string, options?: string[]}} setup  of the virtual machine
 * @returns {string[]} the command, without its arguments
 */
export function flinkCommand (main, { temporary, options = [] }) {
  return [
    'java', ...OPENS, '-XX:+UseSerialGC', '-Djava.net.preferIPv4Stack=true', `-Djava.io.tmpdir=${temporary}`,
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', ...options,
    '-cp', [join(folder, 'sluice-flink.jar'), join(folder, 'lib', '*')].join(':'), main
  ]
}

/** A hash of them all. */
function sources () {
  const hash = createHash('sha256')
  const names = /** @type {string[]} */ (readdirSync(project, { recursive: true })).filter(name => /\.(java|xml)$/.test(name)).sort()
  for (const name of names) hash.update(name).update(readFileSync(join(project, name)))
  return hash.digest('hex')
}

/** @param {boolean} isThere @param {string} line */
function say (isThere, line) {
  console.log(line)
  return isThere
}
