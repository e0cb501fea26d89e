import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificates } from './certificates.js'
import { jarsOf, kafka, missingJava } from './java/jars.js'
import { machine } from './java/machine.js'
import { freePort } from './ports.js'

/**
 * A real Kafka on 127.0.0.1: processes that are broker and controller, each in a folder of its own.
 *
 * @typedef {object} KafkaServer
 * @property {number} port
 * @property {string} user  empty where it asks for no login
 * @property {string} password
 * @property {string} ca  path of the authority's certificate, where the server has TLS
 * @property {string} folder
 * @property {string} data  folder of what it stores
 * @property {number|undefined} pid  while it runs
 * @property {() => Promise<void>} start  waits until it accepts connections; recovers after `kill`
 * @property {() => Promise<void>} stop  shuts down cleanly
 * @property {() => Promise<void>} kill  SIGKILL
 * @property {() => Promise<void>} remove  stops it and removes its folder
 */

const CLUSTER = '4L6g3nShT-eMCtK--X86sw'
const LOGIN = { user: 'sluice', password: 'seal' }

/** What is missing for Kafka, or null. */
export function missingKafka () {
  return missingJava(kafka)
}

/**
 * @typedef {object} Setup
 * @property {string} [dir]  empty, or the folder of an earlier server
 * @property {boolean} [tls]  it takes encrypted connections only
 * @property {boolean} [login]  it asks for one, SCRAM or plain
 * @property {boolean} [isMeasured]  it has more memory
 * @property {string} [settings]  more lines of its configuration
 */

/** @param {Setup} [setup] @returns {Promise<KafkaServer>} started */
export async function startKafka (setup = {}) {
  const { servers: [server] } = await startCluster(1, setup)
  return server
}

/**
 * Several that are one cluster: what one of them has, two others have as well.
 * @param {number} count
 * @param {Setup} [setup]
 * @returns {Promise<{servers: KafkaServer[], remove: () => Promise<void>}>} started
 */
export async function startCluster (count, { dir, tls = false, login = false, isMeasured = false, settings = '' } = {}) {
  const missing = missingKafka()
  if (missing) throw new Error(`Kafka: ${missing}`)
  const folder = dir ?? await mkdtemp(join(tmpdir(), 'sluice-kafka-'))
  const certificates = tls ? makeCertificates(folder) : null
  if (certificates) {
    const { key, cert } = certificates.server
    // Java reads no other kind of key.
    const pkcs8 = execFileSync('openssl', ['pkcs8', '-topk8', '-nocrypt', '-in', key], { encoding: 'utf8' })
    await writeFile(join(folder, 'server.pem'), pkcs8 + await readFile(cert, 'utf8') + await readFile(certificates.ca, 'utf8'))
  }
  const protocol = `${login ? 'SASL_' : ''}${tls ? 'SSL' : 'PLAINTEXT'}`
  const nodes = await Promise.all(Array.from({ length: count }, async (_, i) => {
    const [port, controllerPort] = await Promise.all([freePort(), freePort()])
    const own = count === 1 ? folder : join(folder, String(i + 1))
    return { id: i + 1, port, controllerPort, folder: own, data: join(own, 'data'), config: join(own, 'server.properties') }
  }))
  const voters = nodes.map(({ id, controllerPort }) => `${id}@127.0.0.1:${controllerPort}`).join(',')
  const replicas = Math.min(3, count)
  const inSync = Math.min(2, count)
  const servers = await Promise.all(nodes.map(async ({ id, port, controllerPort, folder: own, data, config }) => {
    await mkdir(data, { recursive: true })
    await writeFile(config, `
process.roles=broker,controller
node.id=${id}
controller.quorum.voters=${voters}
listeners=CLIENT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=CLIENT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=CLIENT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,CLIENT:${protocol}
log.dirs=${data}
num.network.threads=2
num.io.threads=2
auto.create.topics.enable=false
default.replication.factor=${replicas}
min.insync.replicas=${inSync}
offsets.topic.replication.factor=${replicas}
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=${replicas}
transaction.state.log.min.isr=${inSync}
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=${replicas}
share.coordinator.state.topic.min.isr=${inSync}
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=2097152
${certificates
  ? `ssl.keystore.type=PEM\nssl.keystore.location=${join(folder, 'server.pem')}
ssl.truststore.type=PEM\nssl.truststore.location=${certificates.ca}`
  : ''}
${login ? loginSettings() : ''}
${settings}
`)
    const storage = ['-cp', jarsOf(kafka), 'kafka.tools.StorageTool', 'format', '--ignore-formatted', '-t', CLUSTER, '-c', config]
    const user = login ? ['--add-scram', `SCRAM-SHA-512=[name=${LOGIN.user},password=${LOGIN.password}]`] : []
    execFileSync('java', [...storage, ...user], { stdio: ['ignore', 'ignore', 'pipe'] })
    const server = machine(kafka, {
      main: 'kafka.Kafka',
      options: [...isMeasured ? ['-Xms256m', '-Xmx512m'] : ['-Xms128m', '-Xmx256m'], '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'],
      args: [config],
      folder: own,
      port,
      isMeasured
    })
    return {
      port,
      user: login ? LOGIN.user : '',
      password: login ? LOGIN.password : '',
      ca: certificates?.ca ?? '',
      folder: own,
      data,
      get pid () { return server.pid },
      start: server.start,
      stop: server.stop,
      kill: server.kill,
      async remove () {
        await server.kill()
        await rm(own, { recursive: true, force: true })
      }
    }
  }))
  await Promise.all(servers.map(server => server.start()))
  return {
    servers,
    async remove () {
      await Promise.all(servers.map(server => server.remove()))
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** Of SCRAM, and of plain logins. */
function loginSettings () {
  const { user, password } = LOGIN
  const login = `username="${user}" password="${password}"`
  const security = 'org.apache.kafka.common.security'
  return `sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.client.plain.sasl.jaas.config=${security}.plain.PlainLoginModule required ${login} user_${user}="${password}";
listener.name.client.scram-sha-512.sasl.jaas.config=${security}.scram.ScramLoginModule required;
`
}
