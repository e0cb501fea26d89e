import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { fail, throttledStatus } from '../../nodes/node.js'

describe('throttled status', () => {
  it('shows the last one given, at most one a second, and none once the node is closed', async () => {
    /** @type {{text: string, atMs: number}[]} */
    const shown = []
    const node = Object.assign(new EventEmitter(), {
      status: (/** @type {{text: string}} */ { text }) => shown.push({ text, atMs: performance.now() })
    })
    const show = throttledStatus(node)

    show({ text: 'first' })
    show({ text: 'second' })
    await sleep(20)
    show({ text: 'third' })
    show({ text: 'fourth' })
    await sleep(1100)
    show({ text: 'fifth' })
    node.emit('close')
    await sleep(20)

    expect(shown.map(({ text }) => text)).to.deep.equal(['second', 'fourth'])
    expect(shown[1].atMs - shown[0].atMs).to.be.at.least(950)
  })

  it('shows nothing of a node that was closed while it opened, whatever it says then', async () => {
    /** @type {string[]} */
    const shown = []
    const node = Object.assign(new EventEmitter(), { status: (/** @type {{text: string}} */ { text }) => shown.push(text) })
    const show = throttledStatus(node)

    node.emit('close')
    show({ text: 'connecting' })
    await sleep(20)

    expect(shown).to.deep.equal([])
  })

  it('shows nothing twice, but what an error has replaced', async () => {
    /** @type {string[]} */
    const shown = []
    const node = Object.assign(new EventEmitter(), { status: (/** @type {{text: string}} */ { text }) => shown.push(text), error () {} })
    node.on('error', () => {})
    const show = throttledStatus(node)
    const settle = async () => {
      await sleep(1000)
      show({ text: 'running' })
      await sleep(20)
    }

    show({ text: 'running' })
    await settle()
    expect(shown).to.deep.equal(['running'])
    fail(node, new Error('it broke'))
    await settle()
    expect(shown).to.deep.equal(['running', 'failed, see the log', 'running'])
    node.emit('close')
  })
})
