import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { dirname, join, resolve } from 'node:path'
import { FLOW, settings } from './flow.js'
import { Card } from './card.js'
import { Guest, Key } from './guest.js'
import { Machine } from './machine.js'
import { serveTime } from './time-server.js'

/**
 * Where cards are started: a folder beside the image, a key, a time server; all gone at the end.
 * @typedef {{folder: string, key: Key, options: RigOptions}} Rig
 * @typedef {{out: string, machine: 'virt'|'raspi3b', memoryMib: number, isRootReadOnly: boolean}} RigOptions
 */

/** The exit status of a program that somebody has interrupted. */
const INTERRUPTED = 130

/** @param {RigOptions} options @param {(rig: Rig) => Promise<void>} task */
export async function withRig (options, task) {
  const stopTime = await serveTime()
  const folder = mkdtempSync(join(dirname(resolve(options.out)), '.rig-'))
  const remove = () => rmSync(folder, { recursive: true }) // gigabytes
  const interrupted = () => process.exit(INTERRUPTED)
  process.once('exit', remove).once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    await task({ folder, key: new Key(folder), options })
  } finally {
    process.off('exit', remove).off('SIGINT', interrupted).off('SIGTERM', interrupted)
    stopTime()
    remove()
  }
}

/** As it comes out of the box, with what somebody may have put on its FAT partition. @param {Rig} rig */
export function newCard ({ folder, options }) {
  const card = new Card(options.out, folder)
  card.write('sluice.toml', settings(options.isRootReadOnly))
  card.write('flow.json', FLOW)
  return card
}

/**
 * Runs a card until the task is done, then cuts its power.
 * @template T
 * @param {Rig} rig
 * @param {Card} card
 * @param {(machine: Machine, guest: Guest) => Promise<T>} task
 * @param {{writeLog?: string}} [more]
 */
export async function running ({ key, options }, card, task, more = {}) {
  const ports = { ssh: await freePort(), editor: await freePort() }
  const machine = new Machine({ ...options, ...more, card, ports, credential: key.credential })
  try {
    return await Promise.race([task(machine, new Guest(ports, key)), machine.broken])
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new Error(`${message}\nThe console's last lines:\n${machine.lastLines}`, { cause: error })
  } finally {
    await machine.cutPower()
  }
}

async function freePort () {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}
