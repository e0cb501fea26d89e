import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { presets, tryMappings } from '../../gateway/messages/mapping/mapping.js'

const FOLDER = new URL('../../examples/2 Sources/topics/', import.meta.url)

/** What the first message of each example becomes: source, tags, fields. @type {Record<string, [string, object, object]>} */
const ROWS = {
  telegraf: ['cpu', { cpu: 'cpu-total', host: 'gate' }, { usage_idle: 97.25, usage_user: 1.5 }],
  zigbee2mqtt: ['zigbee2mqtt', { device: 'kitchen' }, { humidity: 48.13, linkquality: 112, temperature: 21.37 }],
  tasmota: ['tasmota', { device: 'tasmota_4F2A10', message: 'SENSOR' }, { 'ENERGY.Power': 43, 'ENERGY.Voltage': 231 }],
  shelly: ['shelly', { device: 'shellyplus1pm-a8032ab12345' }, { 'switch:0.output': true, 'switch:0.apower': 43.2 }],
  'shelly-events': ['shelly', { device: 'shellyplus1pm-a8032ab12345' }, { 'switch:0.apower': 43.2, 'switch:0.current': 0.221 }],
  'shelly-gen1': ['shelly', { device: 'shelly1pm-B1D2E3' }, { 'relay.0.power': 43.2 }],
  esphome: ['esphome', { device: 'living-room', component: 'sensor' }, { temperature: 21.4 }],
  ttn: [
    'ttn', { application: 'garden@ttn', device: 'soil-1', dev_eui: '70B3D57ED0001234', f_port: '2' }, { battery: 3.28, temperature: 5 }
  ],
  homeassistant: ['homeassistant', { domain: 'sensor', entity: 'kitchen_temperature' }, { state: 21.4 }],
  neuron: ['neuron', { node: 'plc', group: 'slow' }, { pressure: 1.2, running: true, quality: 'flow: error 3002' }],
  senml: ['senml', { device: 'urn:dev:mac:0024befffe804ff1' }, { temperature: 21.5, humidity: 43 }],
  'topic-source': ['garden.rain', {}, { value: 0.2 }],
  custom: ['plant', { line: 'press', device: '7', shift: 'early' }, { temperature: 21.5, strokes: 1200 }]
}

describe('the examples of topic mappings', () => {
  it('are one for each preset, and one without', () => {
    const ids = readdirSync(FOLDER).map(name => name.replace('.json', ''))
    expect(ids).to.have.members([...presets.map(({ id }) => id), 'custom'])
    expect([...Object.keys(ROWS), 'sparkplug']).to.have.members(ids)
  })

  for (const [id, [source, tags, fields]] of Object.entries(ROWS)) {
    it(`${id}: its messages become rows, and nothing of them is refused`, () => {
      /** @type {any[]} */
      const nodes = JSON.parse(readFileSync(new URL(`${id}.json`, FOLDER), 'utf8'))
      const { mappings } = nodes.find(({ type }) => type === 'sluice-stage-in')
      const messages = nodes.filter(({ type }) => type === 'inject').map(({ topic, payload }) => ({ topic, payload: Buffer.from(payload) }))
      const tried = tryMappings(mappings, messages)
      for (const { topic, mapping, refused, fields: found } of tried) {
        expect({ topic, mapping, refused }).to.deep.equal({ topic, mapping: 0, refused: [] })
        expect(found).not.to.deep.equal([])
      }
      expect(tried[0]).to.deep.include({ source, tags })
      expect(Object.fromEntries(tried[0].fields.map(([name, , value]) => [name, value]))).to.include(fields)
    })
  }
})
