// Loaded before a program (node --import), it kills that with SIGKILL once it has done so many of the things that can be half done: changes
// of files, questions to the gateway, other programs started. What they were is in the file FAKE_STEPS.
import childProcess from 'node:child_process'
import { appendFileSync, existsSync } from 'node:fs'
import fs from 'node:fs/promises'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'

const { FAKE_KILL_AT = 'Infinity', FAKE_STEPS = '/dev/null' } = process.env
let steps = 0

/** @param {string} name */
function step (name) {
  appendFileSync(FAKE_STEPS, `${name}\n`)
  if (++steps === Number(FAKE_KILL_AT)) process.kill(process.pid, 'SIGKILL')
}

for (const name of ['mkdir', 'rename', 'rm', 'symlink', 'copyFile']) {
  const real = /** @type {any} */ (fs)[name]
  Object.assign(fs, {
    [name]: async (/** @type {any[]} */ ...args) => {
      const isToDo = name !== 'rm' || existsSync(args[0])
      const result = await real(...args)
      if (isToDo) step(`${name} ${args.join(' ')}`)
      return result
    }
  })
}
for (const [name, module] of /** @type {[string, any][]} */ ([['request', http], ['spawn', childProcess], ['execFile', childProcess]])) {
  const real = module[name]
  module[name] = Object.assign((/** @type {any[]} */ ...args) => {
    step(`${name} ${args[0]}`)
    return real(...args)
  }, real)
}
syncBuiltinESMExports()
