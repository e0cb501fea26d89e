import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { mayUse, userOfNumber, userOfProcess } from '../../gateway/doctor/system-user.js'
import { Patient } from './subject.js'

describe('What the doctor knows of a gateway', () => {
  /** @type {Patient} */
  let patient
  beforeEach(() => { patient = new Patient() })
  afterEach(() => patient.remove())

  describe('is whether it runs', () => {
    it('not known of a folder that nobody has locked', () => {
      expect(patient.subject().state).to.equal('unknown')
    })

    it('as the process in its file does, and is one of Sluice', () => {
      writeFileSync(join(patient.userDir, 'gateway.lock'), '')
      expect(patient.subject().state).to.equal('stopped')
      writeFileSync(join(patient.userDir, 'gateway.pid'), `${process.ppid}\n`)
      patient.root.write({ [`proc/${process.ppid}/cmdline`]: '/bin/sh\0-c\0' })
      expect(patient.subject().state, 'another process has its number').to.equal('stopped')
      patient.root.write({ [`proc/${process.ppid}/cmdline`]: 'node\0sluice.js\0start\0' })
      expect(patient.subject()).to.include({ state: 'running', pid: process.ppid })
    })

    it('not where that process has ended', () => {
      writeFileSync(join(patient.userDir, 'gateway.lock'), '')
      writeFileSync(join(patient.userDir, 'gateway.pid'), '99999999\n')
      expect(patient.subject().state).to.equal('stopped')
    })
  })

  it('is the port and the flow it was started with', () => {
    writeFileSync(join(patient.userDir, 'gateway.pid'), `${process.ppid}\n`)
    const started = (/** @type {string} */ cmdline, environ = '') => {
      patient.root.write({ [`proc/${process.ppid}/cmdline`]: cmdline, [`proc/${process.ppid}/environ`]: environ })
      const { port, flowFile } = patient.subject({ flowFile: undefined })
      return { port, flowFile }
    }
    patient.root.link(`proc/${process.ppid}/cwd`, '/srv')
    const own = join(patient.userDir, 'flows.json')
    expect(started('node\0sluice.js\0start\0')).to.deep.equal({ port: 1880, flowFile: own })
    expect(started('node\0sluice.js\0start\0--port\x001990\0--flows=a.json\0')).to.deep.equal({ port: 1990, flowFile: '/srv/a.json' })
    expect(started('node\0sluice.js\0start\0', 'A=b\0SLUICE_PORT=1991\0')).to.deep.equal({ port: 1991, flowFile: own })
  })

  it('is its user: of the process that runs, or of whom the machine\'s list has', () => {
    const { files } = patient.subject()
    patient.root.write({
      'proc/7/status': 'Name:\tnode\nUid:\t990\t990\t990\t990\nGid:\t991\t991\t991\t991\nGroups:\t20 991 \n',
      'etc/passwd': 'root:x:0:0::/:/bin/sh\nsluice:x:990:991::/:/bin/false\n',
      'etc/group': 'root:x:0:\ndialout:x:20:ada,sluice\n'
    })
    expect(userOfProcess(files, 7)).to.deep.equal({ name: 'sluice', uid: 990, gids: [991, 20, 991] })
    expect(userOfNumber(files, 990)).to.deep.equal({ name: 'sluice', uid: 990, gids: [991, 20] })
    expect(userOfNumber(files, 4)).to.deep.equal({ name: '4', uid: 4, gids: [] })
  })

  it('is what that user may use: as owner, as one of the group, or as everybody', () => {
    const user = { name: 'sluice', uid: 990, gids: [20] }
    const may = (/** @type {number} */ mode, uid = 0, gid = 0) => mayUse(user, { mode: 0o20000 | mode, uid, gid })
    expect([may(0o660, 990), may(0o060, 990), may(0o660, 0, 20), may(0o640, 0, 20), may(0o666), may(0o660)])
      .to.deep.equal([true, false, true, false, true, false])
    expect(mayUse({ name: 'root', uid: 0, gids: [] }, { mode: 0, uid: 5, gid: 5 })).to.equal(true)
  })
})
