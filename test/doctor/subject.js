import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encryptCredentials } from '../../gateway/base/credentials.js'
import { Subject } from '../../gateway/doctor/subject.js'
import { inEnglish } from '../../gateway/stats/english.js'
import { schemaOf } from '../../nodes/schemas.js'
import { FakeRoot } from '../stats/monitor/fake-root.js'

/** A gateway's folder, and a machine around it that is made up. */
export class Patient {
  userDir = mkdtempSync(join(tmpdir(), 'sluice-doctor-'))
  root = new FakeRoot()
  /** What programs of the system print, by the program. @type {Record<string, string>} */
  programs = {}
  /** @type {NodeJS.ProcessEnv} */
  environment = {}

  /** @param {object[]} nodes @param {import('../../gateway/base/credentials.js').Credentials} [credentials] */
  flow (nodes, credentials) {
    writeFileSync(join(this.userDir, 'flows.json'), JSON.stringify([{ id: 'tab', type: 'tab' }, ...nodes]))
    if (!credentials) return
    writeFileSync(join(this.userDir, 'credential-secret'), 'the secret of the secrets', { mode: 0o600 })
    const text = encryptCredentials(credentials, 'the secret of the secrets')
    writeFileSync(join(this.userDir, 'flows_cred.json'), text, { mode: 0o600 })
  }

  /** @param {Partial<import('../../gateway/doctor/subject.js').Place>} [more] */
  subject (more = {}) {
    return new Subject({
      userDir: this.userDir,
      flowFile: join(this.userDir, 'flows.json'),
      schemaOf,
      nodeRed: '5.0.7',
      root: this.root.path,
      environment: this.environment,
      run: async program => this.programs[program] ?? null,
      ...more
    })
  }

  /**
   * What a check finds, each in a line.
   * @param {import('../../gateway/doctor/finding.js').Check} check
   * @param {Partial<import('../../gateway/doctor/subject.js').Place>} [more]
   */
  async findings (check, more) {
    const found = await check.find(this.subject(more), new AbortController().signal)
    return found.map(({ level, what, where }) => `${level}: ${where ? `${inEnglish(where)}: ` : ''}${inEnglish(what)}`)
  }

  remove () {
    rmSync(this.userDir, { recursive: true, force: true })
    this.root.remove()
  }
}
