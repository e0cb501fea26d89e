import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/**
 * What TCP itself counts of each socket, without headers: what was received, and what was sent and acknowledged. `ss` (iproute2) asks the
 * kernel for it, which tells everybody; the counters of interfaces, `lo` above all, count everyone.
 *
 * @typedef {{receivedBytes: number, sentBytes: number}} Traffic
 * @typedef {Map<string, Traffic>} Sockets  connected ones, by inode
 */

const run = promisify(execFile)
const MAX_BYTES = 64 * 2 ** 20
const MAX_MS = 10_000
/** Where some distributions have it, and services do not look. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`

/** @returns {Promise<Sockets|undefined>} undefined without `ss` */
export async function connectedSockets () {
  try {
    const { stdout } = await run('ss', ['-tneiH'], { maxBuffer: MAX_BYTES, timeout: MAX_MS, env: { ...process.env, PATH } })
    return socketsIn(stdout)
  } catch {
    return undefined
  }
}

/**
 * A line for each socket, and one, which begins with a tab, of what TCP knows of it. What is 0 is left out.
 * @param {string} text
 * @returns {Sockets}
 */
export function socketsIn (text) {
  /** @type {Sockets} */
  const sockets = new Map()
  let inode
  for (const line of text.split('\n')) {
    if (!/^\s/.test(line)) inode = /\bino:(\d+)/.exec(line)?.[1]
    else if (inode) {
      sockets.set(inode, { receivedBytes: bytesAfter(line, ' bytes_received:'), sentBytes: bytesAfter(line, ' bytes_acked:') })
    }
  }
  return sockets
}

/** @param {string} line @param {string} key */
function bytesAfter (line, key) {
  const start = line.indexOf(key)
  return start === -1 ? 0 : Number.parseInt(line.slice(start + key.length), 10)
}

/** The sockets of some processes over time: what those that have closed had carried when they were last seen is kept. */
export class SocketTally {
  /** @type {Sockets} */
  #open = new Map()
  #closed = { receivedBytes: 0, sentBytes: 0 }
  #files

  /** @param {import('./system-files.js').SystemFiles} files */
  constructor (files) {
    this.#files = files
  }

  /**
   * @param {number[]} pids
   * @param {Sockets} sockets  of the machine
   * @returns {Traffic & {sockets: number}|undefined} undefined where it may not see what they have open
   */
  read (pids, sockets) {
    const inodes = new Set()
    for (const pid of pids) {
      const found = this.#inodes(pid)
      if (!found) return undefined
      for (const inode of found) inodes.add(inode)
    }
    const open = new Map([...sockets].filter(([inode]) => inodes.has(inode)))
    for (const [inode, { receivedBytes, sentBytes }] of this.#open) {
      const now = open.get(inode)
      if (now && now.receivedBytes >= receivedBytes && now.sentBytes >= sentBytes) continue // otherwise another has its inode
      this.#closed.receivedBytes += receivedBytes
      this.#closed.sentBytes += sentBytes
    }
    this.#open = open
    const total = { ...this.#closed, sockets: open.size }
    for (const { receivedBytes, sentBytes } of open.values()) {
      total.receivedBytes += receivedBytes
      total.sentBytes += sentBytes
    }
    return total
  }

  /** @param {number} pid @returns {string[]|undefined} of the sockets it has open; undefined also where its network is not ours */
  #inodes (pid) {
    const isOurs = this.#files.link(`/proc/${pid}/ns/net`) === this.#files.link('/proc/self/ns/net')
    const ids = isOurs ? this.#files.names(`/proc/${pid}/fd`) : undefined
    // One that is ending has neither memory nor files any more.
    if (!ids) return this.#files.text(`/proc/${pid}/status`)?.includes('VmRSS:') ? undefined : []
    return ids.flatMap(id => {
      const link = this.#files.link(`/proc/${pid}/fd/${id}`)
      return link?.startsWith('socket:[') ? [link.slice(8, -1)] : []
    })
  }
}
