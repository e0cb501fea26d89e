import { parseArgs } from 'node:util'
import { expect } from 'chai'
import { withEnvironment } from '../../gateway/cli/environment.js'

describe('Options from the environment', () => {
  /** @param {string[]} args @param {NodeJS.ProcessEnv} environment */
  function read (args, environment) {
    const { values } = parseArgs({
      args,
      options: withEnvironment({
        port: { type: 'string', default: '1880' },
        'login-file': { type: 'string' },
        'allow-host': { type: 'string', multiple: true },
        login: { type: 'boolean' }
      }, environment)
    })
    return { ...values }
  }

  it('are what the command line does not say', () => {
    const environment = { SLUICE_PORT: '1881', SLUICE_LOGIN_FILE: '/etc/sluice/login', SLUICE_ALLOW_HOST: 'plant.example  plant.lan:8443' }
    expect(read([], environment))
      .to.deep.equal({ port: '1881', 'login-file': '/etc/sluice/login', 'allow-host': ['plant.example', 'plant.lan:8443'] })
    expect(read(['--port', '80', '--allow-host', 'a', '--allow-host', 'b'], environment))
      .to.deep.equal({ port: '80', 'login-file': '/etc/sluice/login', 'allow-host': ['a', 'b'] })
  })

  it('are the usual ones where a variable is missing or empty', () => {
    expect(read([], { SLUICE_PORT: '', SLUICE_LOGIN_FILE: ' ' })).to.deep.equal({ port: '1880' })
  })

  it('have a value: SLUICE_LOGIN has users, and is not --login', () => {
    expect(read([], { SLUICE_LOGIN: 'ada:change:correct horse' })).to.deep.equal({ port: '1880' })
  })
})
