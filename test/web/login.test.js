import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Attempts } from '../../gateway/web/attempts.js'
import { isAnonymous, Login } from '../../gateway/web/login.js'
import { isPasswordOf, makeUser, readUsers, writeUsers } from '../../gateway/web/users.js'

const PASSWORDS = { ada: 'correct horse', wallboard: 'battery: staple' }

describe('The users of the gateway', () => {
  /** @type {string} */
  let folder

  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-users-')) })
  afterEach(() => rm(folder, { recursive: true }))

  it('are none until some are entered', () => {
    expect(readUsers(folder).size).to.equal(0)
  })

  it('are kept hashed, in a file that only its owner can read', async () => {
    const ada = await makeUser({ name: 'ada', role: 'change', password: PASSWORDS.ada })
    writeUsers(folder, new Map([['ada', ada]]))
    const file = join(folder, 'users.json')
    expect((await stat(file)).mode & 0o777).to.equal(0o600)
    expect(await readFile(file, 'utf8')).to.not.contain(PASSWORDS.ada)
    expect(readUsers(folder).get('ada')).to.deep.equal(ada)
  })

  it('have the same password with different hashes', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => makeUser({ name: 'ada', role: 'view', password: PASSWORDS.ada })))
    expect(one.password).to.not.equal(other.password)
    expect(await isPasswordOf(PASSWORDS.ada, one)).to.equal(true)
    expect(await isPasswordOf(`${PASSWORDS.ada} `, one)).to.equal(false)
    expect(await isPasswordOf('', undefined)).to.equal(false)
  })

  it('have to log in anew once they were changed', async () => {
    await writeFile(join(folder, '.sessions.json'), '{}')
    writeUsers(folder, new Map())
    expect(await stat(join(folder, '.sessions.json')).catch(({ code }) => code)).to.equal('ENOENT')
  })

  it('are never taken for none because their file is damaged', async () => {
    for (const text of ['', '{"ada": ', '{"ada": {"role": "owner", "password": ""}}', '{"ada": {"role": "change", "password": ""}}',
      '{"ada": null}', 'null', '{"a b": {}}']) {
      await writeFile(join(folder, 'users.json'), text)
      expect(() => readUsers(folder), text).to.throw('cannot be read').with.property('code', 'SLUICE_LOGIN_USERS')
    }
  })

  it('need a name, a role, and a password that cannot be guessed at once', async () => {
    const good = { name: 'ada', role: /** @type {const} */ ('view'), password: PASSWORDS.ada }
    for (const wrong of [{ name: 'a:b' }, { name: '' }, { name: 'a b' }, { role: /** @type {any} */ ('owner') }, { password: '1234567' }]) {
      const error = await makeUser({ ...good, ...wrong }).catch(reason => reason)
      expect(error.code, JSON.stringify(wrong)).to.equal('SLUICE_LOGIN_USERS')
      expect(error.message).to.not.contain('1234567')
    }
  })
})

describe('The login', () => {
  /** @type {Login} */
  let login
  /** @type {import('node:http').Server} */
  let server
  /** @type {string} */
  let url
  /** @type {import('../../gateway/web/users.js').Users} */
  let users

  before(async () => {
    users = new Map([
      ['ada', await makeUser({ name: 'ada', role: 'change', password: PASSWORDS.ada })],
      ['wallboard', await makeUser({ name: 'wallboard', role: 'view', password: PASSWORDS.wallboard })]
    ])
  })
  beforeEach(async () => {
    login = new Login(users, { metricsToken: 'the-token', now: () => 0 })
    server = createServer((asked, response) => login.middleware(asked, response, () => response.end('in')))
    server.on('upgrade', (asked, socket) => {
      login.checkUpgrade(asked).then(() => 101, error => error.code).then(result => socket.end(`HTTP/1.1 418 ${result}\r\n\r\n`))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  const basic = (/** @type {string} */ name, /** @type {string} */ password) => `Basic ${btoa(`${name}:${password}`)}`

  /** @param {string} path @param {string} [authorization] @param {string} [method] */
  async function ask (path, authorization, method = 'GET') {
    const response = await fetch(url + path, { method, headers: authorization ? { authorization } : {} })
    return `${response.status} ${(await response.text()).split(':')[0]}`
  }

  it('lets in who has the password, and nobody else', async () => {
    expect(await ask('/sluice/', basic('ada', PASSWORDS.ada))).to.equal('200 in')
    expect(await ask('/sluice/', basic('wallboard', PASSWORDS.wallboard).replace('Basic', 'basic'))).to.equal('200 in')
    for (const authorization of [undefined, basic('ada', PASSWORDS.wallboard), basic('ada', ''), basic('nobody', PASSWORDS.ada),
      basic('__proto__', ''), 'Basic', 'Basic !', `Bearer ${PASSWORDS.ada}`, 'Bearer the-token']) {
      expect(await ask('/sluice/', authorization), authorization).to.equal('401 SLUICE_LOGIN_NEEDED')
    }
  })

  it('has the browser ask', async () => {
    const { headers } = await fetch(`${url}/sluice/`)
    expect(headers.get('www-authenticate')).to.equal('Basic realm="Sluice", charset="UTF-8"')
  })

  it('lets those who may look only look', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      expect(await ask('/endpoint', basic('wallboard', PASSWORDS.wallboard), method)).to.equal('403 SLUICE_LOGIN_ROLE')
      expect(await ask('/endpoint', basic('ada', PASSWORDS.ada), method)).to.equal('200 in')
    }
  })

  it('tells everybody whether it is healthy, and programs with the token its metrics: nothing more', async () => {
    expect(await ask('/sluice/health')).to.equal('200 in')
    expect(await ask('/sluice/metrics', 'Bearer the-token')).to.equal('200 in')
    expect(await ask('/sluice/metrics', basic('wallboard', PASSWORDS.wallboard))).to.equal('200 in')
    for (const [path, authorization, method] of [['/sluice/metrics'], ['/sluice/metrics', 'Bearer the-toke'], ['/sluice/metrics', 'Bearer'],
      ['/sluice/metrics/', 'Bearer the-token'], ['/sluice/health/../'], ['/sluice/healthy'], ['/sluice/health', undefined, 'POST']]) {
      expect(await ask(/** @type {string} */ (path), authorization, method)).to.equal('401 SLUICE_LOGIN_NEEDED')
    }
    login = new Login(users)
    for (const token of ['the-token', 'undefined', '']) {
      expect(await ask('/sluice/metrics', `Bearer ${token}`)).to.equal('401 SLUICE_LOGIN_NEEDED')
    }
  })

  it('lets everybody ask whether it is ready, and knows who may hear why it is not', async () => {
    server.removeAllListeners('request')
    server.on('request', (asked, response) => {
      login.middleware(asked, response, () => response.end(isAnonymous(asked) ? 'a stranger' : 'in'))
    })
    expect(await ask('/sluice/health/ready')).to.equal('200 a stranger')
    expect(await ask('/sluice/health/ready', 'Bearer the-token')).to.equal('200 in')
    expect(await ask('/sluice/health/ready', basic('wallboard', PASSWORDS.wallboard))).to.equal('200 in')
    for (const authorization of ['', 'Bearer the-toke', basic('wallboard', 'wrong')]) {
      const expected = authorization ? '401 SLUICE_LOGIN_NEEDED' : '200 a stranger'
      expect(await ask('/sluice/health/ready', authorization), authorization).to.equal(expected)
    }
  })

  it('asks for the right to change before a websocket of a flow opens, and leaves those with a proof of their own alone', async () => {
    const upgrade = async (/** @type {string} */ path, /** @type {string} */ authorization = '') => {
      const asked = request(url + path, { headers: { connection: 'upgrade', upgrade: 'websocket', authorization } }).end()
      return (await once(asked, 'response'))[0].statusMessage
    }
    expect(await upgrade('/flow/socket')).to.equal('SLUICE_LOGIN_NEEDED')
    expect(await upgrade('/flow/socket', basic('wallboard', PASSWORDS.wallboard))).to.equal('SLUICE_LOGIN_ROLE')
    expect(await upgrade('/flow/socket', basic('ada', PASSWORDS.ada))).to.equal('101')
    for (const path of ['/comms', '/sluice/stream?ticket=x']) expect(await upgrade(path)).to.equal('101')
    for (const path of ['/comms/', '/Comms', '/sluice/stream/']) expect(await upgrade(path)).to.equal('SLUICE_LOGIN_NEEDED')
  })

  it('has an address that guesses wait, and lets in who was right before', async () => {
    expect(await ask('/', basic('ada', PASSWORDS.ada))).to.equal('200 in')
    const answers = []
    for (let i = 0; i < 12; i++) answers.push(await ask('/', basic('wallboard', `guess ${i}`)))
    expect(answers).to.deep.equal([...Array(5).fill('401 SLUICE_LOGIN_NEEDED'), ...Array(7).fill('429 SLUICE_LOGIN_WAIT')])
    expect(await ask('/', basic('ada', PASSWORDS.ada))).to.equal('200 in')
  })

  it('counts guesses that come all at once', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => ask('/', basic('ada', `guess ${i}`))))
    expect(answers.filter(answer => answer.startsWith('401')).length).to.equal(5)
  })

  it('checks a password once, however many requests of a page bring it', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask('/', basic('ada', PASSWORDS.ada))))
    expect(new Set(answers)).to.deep.equal(new Set(['200 in']))
  })

  it('has the editor know the same users, by what they may do', async () => {
    const { users: find, authenticate } = login.adminAuth
    expect(await find('ada')).to.deep.equal({ username: 'ada', permissions: '*' })
    expect(await authenticate('wallboard', PASSWORDS.wallboard)).to.deep.equal({ username: 'wallboard', permissions: 'read' })
    expect(await authenticate('wallboard', PASSWORDS.ada)).to.equal(null)
    expect(await authenticate('nobody', PASSWORDS.ada)).to.equal(null)
    expect(await find('nobody')).to.equal(null)
    expect(await authenticate('ada', { length: 9 })).to.equal(null)
  })

  it('rejects no login of the editor with an error, which would end Node-RED', async () => {
    const { authenticate } = login.adminAuth
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => authenticate('ada', `guess ${i}`)))
    expect(new Set(answers)).to.deep.equal(new Set([null]))
  })
})

describe('Attempts to log in', () => {
  /** @type {number} */
  let nowMs
  /** @type {Attempts} */
  let attempts

  beforeEach(() => {
    nowMs = 1000
    attempts = new Attempts(() => nowMs)
  })

  /** Tries again and again, as soon as possible; what it had to wait each time, in seconds. @param {number} count */
  function guess (count) {
    return Array.from({ length: count }, () => {
      const seconds = secondsToWait()
      nowMs += seconds * 1000
      if (seconds > 0) expect(secondsToWait()).to.equal(0)
      return seconds
    })
  }

  function secondsToWait () {
    try {
      attempts.begin('a')
      return 0
    } catch (error) {
      return Number(/Try again in (\d+) s/.exec(String(error))?.[1])
    }
  }

  it('have to wait twice as long after each, and never more than a minute', () => {
    expect(guess(14)).to.deep.equal([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60])
  })

  it('are free again after a right one, and when the wrong ones are forgotten', () => {
    guess(8)
    attempts.succeed('a')
    expect(guess(6)).to.deep.equal([0, 0, 0, 0, 0, 1])
    nowMs += 600_001
    expect(guess(6)).to.deep.equal([0, 0, 0, 0, 0, 1])
  })

  it('of one address leave the others alone, of which a bounded number is remembered', () => {
    guess(8)
    attempts.begin('b')
    for (let i = 0; i < 999; i++) attempts.begin(`other ${i}`)
    expect(secondsToWait()).to.equal(0)
  })
})
