import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificates } from './certificates.js'
import { jarsOf, kafka, missingJava } from './java/jars.js'
import { machine } from './java/machine.js'
import { freePort } from './ports.js'

/**
 * A real Kafka on 127.0.0.1, one process that is broker and controller, in a folder of its own.
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
 * @param {{dir?: string, tls?: boolean, login?: boolean, isMeasured?: boolean, settings?: string}} [options]  `dir` must be empty or the
 *   folder of an earlier server; `tls` makes it take encrypted connections only; `login` makes it ask for one, SCRAM or plain;
 *   `isMeasured` gives it more memory; `settings` are more lines of its configuration
 * @returns {Promise<KafkaServer>} started
 */
export async function startKafka ({ dir, tls = false, login = false, isMeasured = false, settings = '' } = {}) {
  const missing = missingKafka()
  if (missing) throw new Error(`Kafka: ${missing}`)
  const folder = dir ?? await mkdtemp(join(tmpdir(), 'sluice-kafka-'))
  const [port, controllerPort] = await Promise.all([freePort(), freePort()])
  const certificates = tls ? makeCertificates(folder) : null
  const data = join(folder, 'data')
  await mkdir(data, { recursive: true })
  if (certificates) {
    const { key, cert } = certificates.server
    // Java reads no other kind of key.
    const pkcs8 = execFileSync('openssl', ['pkcs8', '-topk8', '-nocrypt', '-in', key], { encoding: 'utf8' })
    await writeFile(join(folder, 'server.pem'), pkcs8 + await readFile(cert, 'utf8') + await readFile(certificates.ca, 'utf8'))
  }
  const protocol = `${login ? 'SASL_' : ''}${tls ? 'SSL' : 'PLAINTEXT'}`
  const config = join(folder, 'server.properties')
  await writeFile(config, `
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=CLIENT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=CLIENT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=CLIENT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,CLIENT:${protocol}
log.dirs=${data}
num.network.threads=2
num.io.threads=2
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
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
    folder,
    port,
    isMeasured
  })
  await server.start()
  return {
    port,
    user: login ? LOGIN.user : '',
    password: login ? LOGIN.password : '',
    ca: certificates?.ca ?? '',
    folder,
    data,
    get pid () { return server.pid },
    start: server.start,
    stop: server.stop,
    kill: server.kill,
    async remove () {
      await server.kill()
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
