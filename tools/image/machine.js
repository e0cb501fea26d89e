import { spawn } from 'node:child_process'
import { once } from 'node:events'

const SHOWN_LINES = 40

/**
 * @typedef {import('./card.js').Card} Card
 * @typedef {{ssh: number, editor: number}} Ports  on this machine
 *
 * @typedef {object} MachineOptions
 * @property {'virt'|'raspi3b'} machine
 * @property {number} memoryMib
 * @property {Card} card
 * @property {Ports} ports
 * @property {string} credential  words for the kernel's command line
 * @property {string} [writeLog]  a file that gets every write to the card
 */

/** A Raspberry Pi in an emulator, from power-on to whenever its power is cut. */
export class Machine {
  /** What its console has shown. */
  console = ''
  /** Rejects where the emulator cannot run, or has ended though nobody wanted it to. @type {Promise<never>} */
  broken
  #mayEnd = false
  #process
  #startedAtMs = Date.now()
  /** @type {(() => void)[]} */
  #watchers = []

  /** @param {MachineOptions} options */
  constructor (options) {
    this.#process = spawn('qemu-system-aarch64', qemuArguments(options), { stdio: ['ignore', 'pipe', 'inherit'] })
    this.broken = new Promise((_resolve, reject) => {
      this.#process.once('error', cause => {
        reject(new Error('There is no emulator. On Debian it is in the package qemu-system-arm.', { cause }))
      })
      this.#process.once('exit', (code, signal) => {
        const how = code === 0 ? 'the machine has restarted, or was shut down' : `it ended with ${code ?? signal}`
        if (!this.#mayEnd) reject(new Error(`The emulator has ended: ${how}.`))
      })
    })
    const kill = () => this.#process.kill('SIGKILL')
    process.once('exit', kill)
    this.#process.once('exit', () => process.off('exit', kill))
    this.#process.stdout.setEncoding('utf8').on('data', text => {
      this.console += text
      for (const look of this.#watchers) look()
    })
  }

  get elapsedMs () {
    return Date.now() - this.#startedAtMs
  }

  get hasEnded () {
    return this.#process.exitCode !== null || this.#process.signalCode !== null
  }

  /**
   * Until the console shows something.
   * @param {RegExp} pattern
   * @param {number} limitMs
   * @returns {Promise<number>} milliseconds since power-on
   */
  shown (pattern, limitMs) {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (pattern.test(this.console)) resolve(this.elapsedMs)
      }
      this.#watchers.push(look)
      setTimeout(() => reject(new Error(`The console did not show ${pattern} in ${limitMs / 1000} s.\n${this.lastLines}`)), limitMs).unref()
      look()
    })
  }

  get lastLines () {
    return this.console.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n')
  }

  /** Nothing is written any more, and nobody is told. */
  async cutPower () {
    this.#mayEnd = true
    if (this.hasEnded) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }

  /** Until it has shut down by itself. @param {() => Promise<unknown>} stop  tells it to */
  async ended (stop) {
    this.#mayEnd = true
    await stop()
    if (!this.hasEnded) await once(this.#process, 'exit')
  }
}

/** @param {MachineOptions} options */
function qemuArguments (options) {
  const { machine, ports, card, credential } = options
  const names = card.names()
  const kernel = names.filter(name => name.startsWith('vmlinuz')).sort().at(-1)
  const initrd = names.filter(name => name.startsWith('initrd')).sort().at(-1)
  if (!kernel || !initrd) throw new Error(`The FAT partition has no kernel: ${names.join(', ')}.`)
  const network = `user,id=net,hostfwd=tcp:127.0.0.1:${ports.ssh}-:22,hostfwd=tcp:127.0.0.1:${ports.editor}-:1880`
  return [
    '-kernel', card.extract(kernel),
    '-initrd', card.extract(initrd),
    '-append', `${commandLine(card.read('cmdline.txt'), WORDS[machine])} ${credential}`,
    '-netdev', network,
    ...MACHINES[machine](options),
    '-display', 'none', '-monitor', 'none', '-no-reboot'
  ]
}

/** QEMU's watchdog of a Raspberry Pi does not wait: it restarts the machine as soon as somebody starts it, as systemd does. */
const WORDS = { virt: 'console=ttyAMA0', raspi3b: 'console=ttyS1,115200 systemd.watchdog_sec=0' }

/** What the card says, with what this machine needs instead. @param {string} text  of cmdline.txt @param {string} words */
export function commandLine (text, words) {
  return [...text.trim().split(/\s+/).filter(word => !word.startsWith('console=')), words].join(' ')
}

const MACHINES = {
  /** @param {MachineOptions} options */
  virt: ({ memoryMib, card, writeLog }) => [
    '-M', 'virt', '-cpu', 'cortex-a53', '-smp', '2', '-m', String(memoryMib),
    '-serial', 'stdio',
    '-blockdev', `driver=file,node-name=file,filename=${card.file}`,
    ...writeLog
      ? [
          '-blockdev', 'driver=raw,node-name=raw,file=file',
          '-blockdev', `driver=file,node-name=log,filename=${writeLog}`,
          '-blockdev', 'driver=blklogwrites,node-name=card,file=raw,log=log,log-sector-size=512'
        ]
      : ['-blockdev', 'driver=raw,node-name=card,file=file'],
    '-device', 'virtio-blk-device,drive=card',
    '-device', 'virtio-net-device,netdev=net',
    '-device', 'virtio-rng-device'
  ],

  /** Its memory, processors and devices are the board's. @param {MachineOptions} options */
  raspi3b: ({ card }) => [
    '-M', 'raspi3b',
    '-dtb', card.extract('bcm2837-rpi-3-b.dtb'),
    '-serial', 'null', '-serial', 'stdio',
    '-drive', `if=sd,format=raw,file=${card.file}`,
    '-device', 'usb-net,netdev=net'
  ]
}
