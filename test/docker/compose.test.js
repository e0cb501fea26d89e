import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { compose } from '../servers/go/programs.js'
import { requireServer } from '../servers/programs.js'

const run = promisify(execFile)
const docker = fileURLToPath(new URL('../../docker', import.meta.url))

/** As Docker reads the file. @param {string} file @param {NodeJS.ProcessEnv} environment */
async function read (file, environment) {
  const path = join(docker, file)
  const profiles = environment.COMPOSE_PROFILES ?? ''
  const { stdout } = await run(compose.program, [path, profiles], { env: { PATH: process.env.PATH, ...environment } })
  return JSON.parse(stdout)
}

describe('Compose files', () => {
  before(function () {
    requireServer(this, 'compose', existsSync(compose.program) ? null : 'compose is not built (node test/servers/go/build.js)')
  })

  for (const database of ['postgres', 'timescale', 'mariadb', 'mongodb', 'influxdb', 'clickhouse']) {
    it(`have a gateway, a broker and, by its profile, ${database}`, async () => {
      const { services } = await read('compose.yml', { SLUICE_DATABASE: database, COMPOSE_PROFILES: database })
      expect(Object.keys(services).sort()).to.deep.equal(['gateway', 'mosquitto', 'setup', database].sort())
      expect(services.gateway.depends_on[database]).to.include({ condition: 'service_healthy' })
      for (const name of ['mosquitto', database]) expect(services[name].healthcheck.test, name).not.to.be.empty
    })

    it(`begin with a flow that reaches ${database} and the broker with secrets that it has`, async () => {
      const { services } = await read('compose.yml', { SLUICE_DATABASE: database, COMPOSE_PROFILES: database })
      const path = services.gateway.environment.SLUICE_FIRST_FLOW
      const nodes = JSON.parse(await readFile(join(docker, 'flows', basename(path)), 'utf8'))
      const servers = nodes.filter((/** @type {any} */ { credentials }) => credentials)
      const hosts = servers.map((/** @type {any} */ { host, url }) => host ?? URL.parse(url)?.hostname)
      expect(hosts).to.have.members([database, 'mosquitto'])
      const secrets = services.gateway.secrets.map((/** @type {any} */ { source }) => source)
      for (const { password } of servers.map((/** @type {any} */ node) => node.credentials)) {
        expect(secrets).to.include(/^\$\{(\w+)\}$/.exec(password)?.[1])
      }
    })
  }

  it('say in .env which database there is when nothing else is said', async () => {
    const { services } = await read('compose.yml', { SLUICE_DATABASE: 'postgres', COMPOSE_PROFILES: 'postgres,grafana' })
    expect(await readFile(join(docker, '.env'), 'utf8')).to.match(/^SLUICE_DATABASE=postgres$/m)
    expect(services).to.include.keys('postgres', 'prometheus', 'grafana')
    await run('sh', ['-n', join(docker, 'setup.sh')])
  })

  it('mount no file that is not there', async () => {
    const { services } = await read('compose.yml', { SLUICE_DATABASE: 'postgres', COMPOSE_PROFILES: 'postgres,grafana' })
    const mounted = Object.values(services).flatMap(({ volumes = [] }) => volumes).filter(({ type }) => type === 'bind')
    expect(mounted).not.to.be.empty
    for (const { source } of mounted) expect(existsSync(source), source).to.equal(true)
  })

  it('let Prometheus in at the gateway, by the name that it has, with its token', async () => {
    const { services, secrets } = await read('compose.yml', { SLUICE_DATABASE: 'postgres', COMPOSE_PROFILES: 'postgres,grafana' })
    const { volumes } = services.prometheus
    const { source } = volumes.find((/** @type {any} */ { target }) => target === '/etc/prometheus/prometheus.yml')
    const text = await readFile(source, 'utf8')
    const [, host, port] = /targets: \['([^:]+):(\d+)'\]/.exec(text) ?? []
    expect(services[host]?.hostname, 'the name by which it is asked').to.equal(host)
    expect(services[host].ports.map((/** @type {any} */ each) => String(each.target))).to.include(port)
    const [, token] = /credentials_file: \/run\/secrets\/(\w+)/.exec(text) ?? []
    for (const name of ['prometheus', host]) expect(services[name].secrets.map((/** @type {any} */ each) => each.source)).to.include(token)
    expect(secrets).to.include.keys(token)
    expect(services[host].environment.SLUICE_METRICS_TOKEN_FILE).to.equal(`/run/secrets/${token}`)
    const rules = /rule_files:\n +- (\S+)/.exec(text)?.[1]
    expect(volumes.map((/** @type {any} */ { target }) => target)).to.include(`/etc/prometheus/${rules}`)
  })

  it('have the studies’ servers beside them, each as the bench is told', async () => {
    const { services } = await read('compose.bench.yml', {})
    const [, , script] = services.bench.entrypoint
    const hosts = Array.from(script.matchAll(/\$at@(\w+):/g), ([, host]) => host)
    expect(Object.keys(services)).to.have.members(['bench', ...hosts])
    expect(Object.keys(services.bench.depends_on)).to.have.members(hosts)
  })

  it('find every secret once secrets.sh has run, which leaves those that are there alone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-secrets-'))
    try {
      await cp(join(docker, 'secrets.sh'), join(folder, 'secrets.sh'))
      const all = { ...(await read('compose.yml', { SLUICE_DATABASE: 'postgres', COMPOSE_PROFILES: 'postgres,grafana' })).secrets }
      await mkdir(join(folder, 'secrets'), { mode: 0o755 }) // as somebody may have made it, for a password of their own
      await run('sh', [join(folder, 'secrets.sh')])
      const made = await readdir(join(folder, 'secrets'))
      expect(made).to.have.members(Object.keys(all))
      const contents = () => Promise.all(made.map(name => readFile(join(folder, 'secrets', name), 'utf8')))
      const before = await contents()
      expect(new Set(before).size).to.equal(before.length)
      await run('sh', [join(folder, 'secrets.sh')])
      expect(await contents()).to.deep.equal(before)
      expect((await stat(join(folder, 'secrets'))).mode & 0o777).to.equal(0o700)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
