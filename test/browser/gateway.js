import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const sluice = fileURLToPath(new URL('../../gateway/cli/sluice.js', import.meta.url))

/**
 * Starts the gateway as a user does, as a process of its own in a folder of its own.
 * @param {object[]} flow
 * @param {string[]} [more]  arguments of the command
 * @returns {Promise<{editorUrl: string, liveUrl: string, userDir: string, stop: () => Promise<void>}>}
 */
export async function startGateway (flow, more = []) {
  const userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-browser-'))
  const flowFile = path.join(userDir, 'flows.json')
  await writeFile(flowFile, JSON.stringify(flow))
  const child = spawn(process.execPath, [sluice, 'start', '--port', '0', '--user-dir', userDir, '--flows', flowFile, ...more], {
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const exited = once(child, 'exit')
  let said = ''
  const listen = (/** @type {Buffer} */ chunk) => { said += chunk }
  child.stdout.on('data', listen)
  child.stderr.on('data', listen)
  while (!said.includes('Ctrl-C stops it')) {
    const hasExited = await Promise.race([exited.then(() => true), once(child.stdout, 'data').then(() => false)])
    if (hasExited) throw new Error(`The gateway did not start:\n${said}`)
  }
  return {
    editorUrl: urlAfter('Editor', said),
    liveUrl: urlAfter('Live page', said),
    userDir,
    async stop () {
      child.kill('SIGTERM')
      await exited
      await rm(userDir, { recursive: true })
    }
  }
}

/** @param {string} name @param {string} text */
function urlAfter (name, text) {
  return /** @type {RegExpMatchArray} */ (text.match(new RegExp(`${name}\\s+(\\S+)`)))[1]
}
