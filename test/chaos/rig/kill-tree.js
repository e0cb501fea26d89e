import { readFile } from 'node:fs/promises'

/**
 * Kills a server with the processes it has started, which would go on for a while.
 * @param {{pid?: number, kill: () => Promise<void>}} server
 */
export async function killTree (server) {
  const children = server.pid === undefined ? [] : await childrenOf(server.pid)
  const ended = server.kill()
  for (const child of children) killIfThere(child)
  await ended
}

/** Linux tells; elsewhere the children are left to notice that they are orphans. @param {number} pid */
async function childrenOf (pid) {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

/** @param {number} pid */
function killIfThere (pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error
  }
}
