import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Servers that run on Java, of which Maven has the jars. It runs on any Node from 18, before anything else is installed.

const here = dirname(fileURLToPath(import.meta.url))

/**
 * @typedef {object} JavaServer
 * @property {string} name
 * @property {string[]} artifacts  as Maven writes them, group:artifact:version; what they need comes with them
 * @property {boolean} [areAll]  it does not: who loads them has the rest
 * @property {RegExp} [withoutJars]  that come with them, and break the server
 * @property {string} size  of what is fetched
 * @property {string} skipped  without it
 */

/** @type {JavaServer} */
export const cassandra = {
  name: 'cassandra', artifacts: ['org.apache.cassandra:cassandra-all:5.0.9'], size: '67 MB', skipped: 'Cassandra sink and kill tests'
}

/** @type {JavaServer} */
export const questdb = {
  name: 'questdb', artifacts: ['org.questdb:questdb:9.3.4'], size: '29 MB', skipped: 'QuestDB sink and kill tests'
}

/** @type {JavaServer} */
export const kafka = {
  name: 'kafka',
  artifacts: ['org.apache.kafka:kafka_2.13:4.3.1', 'org.apache.kafka:kafka-tools:4.3.1', 'org.slf4j:slf4j-simple:1.7.36'],
  size: '70 MB',
  skipped: 'Kafka sink and kill tests'
}

/** @type {JavaServer} */
export const hbase = {
  name: 'hbase',
  artifacts: ['org.apache.hbase:hbase-server:2.6.1', 'org.apache.hbase:hbase-rest:2.6.1'],
  withoutJars: /^(servlet-api-2|jetty-(util-|sslengine-)?6)/, // Hadoop's, older than what the REST server calls
  size: '101 MB',
  skipped: 'HBase sink and kill tests'
}

/** Its own description names nothing of what it needs. @type {JavaServer} */
export const voltdb = {
  name: 'voltdb',
  artifacts: [
    'org.voltdb:voltdb:10.1.1', 'log4j:log4j:1.2.17', 'org.slf4j:slf4j-log4j12:1.7.36', 'org.eclipse.jetty:jetty-servlet:9.4.51.v20230217',
    'org.eclipse.jetty:jetty-continuation:9.4.51.v20230217', 'org.codehaus.jackson:jackson-mapper-asl:1.9.13',
    'com.fasterxml.jackson.core:jackson-databind:2.14.2', 'org.apache.commons:commons-lang3:3.12.0',
    'org.apache.felix:org.apache.felix.framework:5.6.12', 'javax.xml.bind:jaxb-api:2.3.1', 'com.sun.xml.bind:jaxb-core:2.3.0.1',
    'com.sun.xml.bind:jaxb-impl:2.3.1', 'org.apache.avro:avro:1.8.2', 'net.sf.supercsv:super-csv:2.1.0',
    'org.aeonbits.owner:owner-java8:1.0.12', 'org.apache.httpcomponents:httpasyncclient:4.1.4', 'org.apache.calcite:calcite-core:1.23.0',
    'net.java.dev.jna:jna:5.5.0', 'org.xerial.snappy:snappy-java:1.1.8.4'
  ],
  size: '55 MB',
  skipped: 'VoltDB sink and kill tests'
}

/** What Spark needs to read from Kafka. @type {JavaServer} */
export const spark = {
  name: 'spark',
  artifacts: [
    'org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3', 'org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0',
    'org.apache.kafka:kafka-clients:3.9.1', 'org.apache.commons:commons-pool2:2.12.1'
  ],
  areAll: true,
  size: '6 MB',
  skipped: 'the tests of engines/spark'
}

/** What `npm run test:engines` runs besides. @type {JavaServer[]} */
export const engines = [questdb, voltdb, hbase, spark]

/** @param {{name: string}} server */
const folderOf = ({ name }) => join(here, '..', '..', '..', 'node_modules', '.cache', 'sluice', `jars-${name}`)

/** For Java's class path. @param {{name: string}} server */
export const jarsOf = server => join(folderOf(server), 'lib', '*')

/** One by one. @param {JavaServer} server */
export const jarFiles = server => {
  const lib = join(folderOf(server), 'lib')
  return readdirSync(lib).map(name => join(lib, name))
}

/** What keeps the server from being started, or null. @param {JavaServer} server @returns {string|null} */
export function missingJava (server) {
  if (!isInstalled(server)) return `its jars are not there (node test/servers/java/install.js, which needs Maven)`
  return spawnSync('java', ['-version']).status === 0 ? null : 'Java is not installed'
}

/** Has Maven fetch the jars, from its own cache where it can; prints one line. @param {JavaServer} server @returns {boolean} */
export function fetchJars (server) {
  const { name, size, skipped } = server
  if (isInstalled(server)) return say(true, `The jars of ${name} are installed.`)
  const folder = folderOf(server)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'pom.xml'), pomOf(server))
  const maven = spawnSync('mvn', ['-B', '-ntp', '-q', 'dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory=lib'],
    { cwd: folder, encoding: 'utf8' })
  if (maven.error || maven.status !== 0) {
    const why = maven.error ? 'Maven is missing' : maven.stdout.trim().split('\n')[0]
    return say(false, `The jars of ${name} cannot be fetched: ${why}; skipped without them: ${skipped}.`)
  }
  const lib = join(folder, 'lib')
  for (const jar of readdirSync(lib)) if (server.withoutJars?.test(jar)) rmSync(join(lib, jar))
  writeFileSync(stampOf(server), server.artifacts.join('\n')) // written last: the folder is complete
  return say(true, `The jars of ${name} have been fetched (${size}).`)
}

/** @param {JavaServer} server */
function isInstalled (server) {
  const stamp = stampOf(server)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === server.artifacts.join('\n')
}

/** @param {JavaServer} server */
function stampOf (server) {
  return join(folderOf(server), 'installed.txt')
}

/** @param {JavaServer} server */
function pomOf ({ name, artifacts, areAll = false }) {
  const more = areAll ? '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>' : ''
  const dependencies = artifacts.map(artifact => {
    const [group, id, version] = artifact.split(':')
    return `<dependency><groupId>${group}</groupId><artifactId>${id}</artifactId><version>${version}</version>${more}</dependency>`
  })
  return `<project><modelVersion>4.0.0</modelVersion><groupId>sluice.tests</groupId><artifactId>${name}</artifactId><version>1</version>
<dependencies>${dependencies.join('')}</dependencies></project>
`
}

/** @param {boolean} isThere @param {string} line */
function say (isThere, line) {
  console.log(line)
  return isThere
}
