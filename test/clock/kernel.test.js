import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { isKernelSynchronised } from '../../gateway/clock/kernel.js'

describe('what the kernel reports about its clock', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-kernel-'))
  after(() => rmSync(folder, { recursive: true }))

  /** @param {string} script  what stands in for timedatectl does */
  const told = script => {
    const program = path.join(folder, 'timedatectl')
    writeFileSync(program, `#!/bin/sh\n${script}\n`)
    chmodSync(program, 0o755)
    return isKernelSynchronised(program)
  }

  it('is yes or no', async () => {
    expect(await told('echo yes')).to.equal(true)
    expect(await told('echo no')).to.equal(false)
  })

  it('is undefined without systemd', async () => {
    expect(await isKernelSynchronised(path.join(folder, 'none'))).to.equal(undefined)
    expect(await told('echo "System has not been booted with systemd"; exit 1')).to.equal(undefined)
    expect(await told('echo')).to.equal(undefined)
  })

  it('is neither while it does not answer', async () => {
    expect(await told('kill -TERM $$')).to.equal(null)
  })
})
