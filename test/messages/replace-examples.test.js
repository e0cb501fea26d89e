import { readFileSync, readdirSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { toBatches } from '../../gateway/messages/payload.js'
import { readOptions } from '../../gateway/base/options.js'
import { faces } from '../../tools/nodes.js'

const FOLDER = 'examples/4 Replace your nodes'
const NODE_RED_KEYS = ['id', 'type', 'z', 'x', 'y', 'wires']

/**
 * What the sink stores of the functions of each example: source, tags, and rows without their times.
 * @type {Record<string, [string, Record<string, string>, object[]][][]>}
 */
const STORED = {
  influxdb: [
    [['weather', { room: 'kitchen' }, [{ temperature: 21.5, humidity: 48 }]]],
    [['weather', { room: 'hall' }, [{ temperature: 21.5 }, { temperature: 21.6 }]]],
    [['power', { machine: 'press' }, [{ watts: 812.5, starts: 3n }]], ['alarm', { door: 'north' }, [{ open: true }]]]
  ],
  postgresql: [
    [['weather', {}, [{ room: 'kitchen', temperature: 21.5 }]]],
    [['weather', {}, [{ room: 'hall', temperature: 19.25 }]]]
  ],
  mysql: [
    [['weather', {}, [{ room: 'kitchen', temperature: 21.5 }]]],
    [['weather', {}, [{ room: 'hall', temperature: 19.25 }]]],
    [['weather', {}, [{ room: 'attic', temperature: 27.5 }, { room: 'attic', temperature: 27.25 }]]]
  ],
  mongodb: [
    [['weather', {}, [{ room: 'kitchen', 'air.temperature': 21.5, 'air.humidity': 48, phases0: 229.8, phases1: 230.1, phases2: 230.4 }]]],
    [['weather', {}, [{ room: 'hall', 'air.temperature': 19.25 }]]],
    [['weather', {}, [{ room: 'attic', 'air.temperature': 27.5 }, { room: 'attic', 'air.temperature': 27.25 }]]]
  ]
}

describe('The examples that replace other nodes', () => {
  it('are those that are tested here', () => {
    expect(readdirSync(FOLDER).sort()).to.deep.equal(Object.keys(STORED).map(name => `${name}.json`).sort())
  })

  for (const [name, stored] of Object.entries(STORED)) {
    describe(name, () => {
      /** @type {any[]} */
      const nodes = JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8'))
      const functions = nodes.filter(({ type }) => type === 'function')

      for (const [i, expected] of stored.entries()) {
        it(`stores what the function "${functions[i]?.name}" sends, at its time`, () => {
          const message = runInNewContext(`(function (msg) {${functions[i].func}\n})(msg)`, { msg: { topic: '', payload: Date.now() } })
          const { batches, refused } = toBatches(message)
          expect(refused).to.deep.equal([])
          expect(batches.map(
            batch => [batch.source, batch.tags, batch.toObjects().map(({ time: _time, ...values }) => values)]
          )).to.deep.equal(expected)
          const now = BigInt(Date.now())
          for (const time of batches.flatMap(batch => [...batch.time])) expect(Number(now - time / 1_000_000n)).to.be.within(0, 3000)
        })
      }

      it('leads from injects over all functions into one sink with a server, under a comment that names what was replaced', () => {
        const [sink] = nodes.filter(({ server }) => server)
        expect(functions).to.have.length(stored.length)
        for (const { id, wires } of functions) {
          expect(wires).to.deep.equal([[sink.id]])
          expect(nodes.some(node => node.type === 'inject' && node.wires[0][0] === id)).to.equal(true)
        }
        expect(sink.type).to.equal(`sluice-${name}`)
        expect(nodes.find(({ id }) => id === sink.server).type).to.equal(`sluice-${name}-server`)
        expect(nodes.find(({ type }) => type === 'comment').name).to.match(/^In place of /)
      })

      it('sets existing options to valid values, and no secret', async () => {
        for (const node of nodes) {
          const face = faces.find(({ type }) => type === node.type)
          if (!face) continue
          const { schema } = await import(`../../nodes/${face.file}.schema.js`)
          const open = Object.keys(schema.properties).filter(option => !schema.properties[option]['x-secret'])
          expect([...open, ...NODE_RED_KEYS]).to.include.members(Object.keys(node))
          readOptions(schema, node)
        }
      })
    })
  }
})
