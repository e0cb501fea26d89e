import { expect } from 'chai'
import { Mapper, presets } from '../../../gateway/messages/mapping/mapping.js'
import { bytesOf, reader, recorded, rowsOf } from './recorded.js'

const files = recorded()

describe('The presets of topic mappings', () => {
  it('each have recorded messages, and so has a mapping without one', () => {
    expect(files.map(({ preset }) => preset).sort()).to.deep.equal(['', ...presets.map(({ id }) => id)].sort())
  })

  it('each say what they are for', () => {
    for (const { id, label, help, topic } of presets) {
      expect(label && help, id).to.not.equal('')
      expect(new Mapper([{ preset: id }]).filters, topic).to.have.length(1)
    }
  })

  for (const { preset, mapping, messages } of files) {
    describe(preset || 'none', () => {
      const mapper = new Mapper([{ preset, ...mapping }])
      const read = reader(mapper)
      for (const message of messages) {
        const { topic, payload, rows, refused = [] } = message
        it(`reads what comes on ${topic}: ${payload?.slice(0, 60)}`, () => {
          const times = preset === 'sparkplug' ? 1 : 3 // by then, the shape of its rows has been learned; a birth that comes again is none
          for (let time = 1; time <= times; time++) {
            const content = read(message)
            expect(rowsOf(content.batches)).to.deep.equal(rows)
            expect(content.refused.map(({ reason }) => reason)).to.deep.equal(refused)
          }
          expect(mapper.find(topic)).to.equal(0)
        })
      }

      it('makes columns of all its tags, also in a batch of one row and where one is missing', () => {
        const { topic = '', tags = [] } = { ...presets.find(({ id }) => id === preset), ...mapping }
        const ofTopic = [...topic.matchAll(/{(\w+)…?}/g)].map(([, name]) => name).filter(name => !['_', 'field', 'source'].includes(name))
        const names = [...ofTopic, ...tags.map(tag => tag.split('=')[0].split('.').at(-1))]
        const batches = messages.flatMap(message => read(message).batches)
        for (const batch of batches) for (const name of names) expect(batch.tags[String(name)], name).to.have.keys('values', 'valid')
      })
    })
  }

  it('keep the devices of a product in one table', () => {
    for (const { preset, mapping, messages } of files) {
      if (preset === 'telegraf' || preset === 'topic-source') continue
      const read = reader(new Mapper([{ preset, ...mapping }]))
      const rows = messages.flatMap(message => rowsOf(read(message).batches))
      expect(new Set(rows.map(({ source }) => source)).size, preset).to.equal(1)
    }
  })

  it('can all be used at once: the first that matches decides', () => {
    const all = files.filter(({ preset }) => preset !== 'topic-source')
    const mapper = new Mapper(all.map(({ preset, mapping }) => ({ preset, ...mapping })))
    for (const { messages } of files) for (const message of messages) expect(() => mapper.decode(bytesOf(message), message)).to.not.throw()
    expect(mapper.find('homeassistant/sensor/kitchen/state')).to.equal(all.findIndex(({ preset }) => preset === 'esphome'))
  })
})
