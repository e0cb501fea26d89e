import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import stageIn from '../../nodes/staging/stage-in.js'
import { readOption, readOptions } from '../../resources/options.js'
import { faces } from '../../tools/nodes.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

/** @param {string} type @returns {Promise<import('../../resources/options.js').Schema>} */
async function schemaOf (type) {
  const face = faces.find(each => each.type === type)
  return (await import(`../../nodes/${face?.file}.schema.js`)).schema
}

const port = 'must be between 1 and 65,535'

/** @type {[type: string, options: object, option: string, problem: string][]} */
const REFUSED = [
  ['sluice-broker', { url: 'mqtt://plant:70000' }, 'url', `The port in Address ${port}; 70,000 is too large.`],
  ['sluice-broker', { url: 'mqtt://plant:0' }, 'url', `The port in Address ${port}; 0 is too small.`],
  ['sluice-broker', { url: 'wss://plant:8o83/mqtt' }, 'url', `The port in Address ${port}; "8o83" is not a number.`],
  ['sluice-broker', { url: 'mqtt://[::1:1883' }, 'url', 'Address must look like mqtt://127.0.0.1:1883; "mqtt://[::1:1883" does not.'],
  ['sluice-mongodb-server', { url: 'mongodb://a:27017,b:70000/?replicaSet=x' }, 'url', `The port in URL ${port}; 70,000 is too large.`],
  ['sluice-mongodb-server', { url: 'mongodb://' }, 'url', 'URL must look like mongodb://127.0.0.1:27017; "mongodb://" does not.'],
  ['sluice-postgresql-server', { port: '70000' }, 'port', `Port ${port}; 70,000 is too large.`],
  ['sluice-modbus-device', { connection: 'rtu', unit: 0 }, 'unit',
    'Unit 0 addresses all devices of a serial line, and none of them answers. Give the address of one device.'],
  ['sluice-modbus-simulator', { units: '5-300' }, 'units', 'Units go from 0 to 255, upwards; "5-300" does not.'],
  ['sluice-modbus-simulator', { host: '💥' }, 'host', 'Listen on must look like 127.0.0.1; "💥" does not.'],
  ['sluice-embedded-broker', { host: '💥' }, 'host', 'Listen on must look like 127.0.0.1; "💥" does not.'],
  ['sluice-csv', { file: 'x.csv', timeZone: 'Mars' }, 'timeZone',
    'Time zone: "Mars" is not a time zone. Give one such as Europe/Berlin, or UTC.'],
  ['sluice-postgresql', { server: 'id', layout: 'upsert', key: '' }, 'key',
    'The layout "upsert" has no key. Name the fields or tags by which a row is known.'],
  ['sluice-postgresql', { server: 'id', layout: 'upsert', key: ['id'], hypertable: true }, 'hypertable',
    'A hypertable, which is cut by time, cannot find rows by a key alone. Switch Hypertable off, or set another layout than "upsert".'],
  ['sluice-stage-in', { broker: 'id', member: 3, members: 2, group: 'g' }, 'member',
    'There is no member 3 of 2. Number the members 1 to 2, each its own.'],
  ['sluice-postgresql', { server: 'id', schema: 'ü'.repeat(32) }, 'schema',
    'Schema must have at most 63 bytes, of which letters such as ü take two or more; it has 64.'],
  ['sluice-postgresql', { server: 'id', table: `{source}_${'x'.repeat(63)}` }, 'table',
    'Table must have at most 63 bytes, of which letters such as ü take two or more; it has 64.'],
  ['sluice-postgresql', { server: 'id', schema: 'a\0b' }, 'schema',
    'Schema has the character NUL or half of another: delete it and type it anew.'],
  ['sluice-stage-in', { broker: 'id', sinks: ['archive', 'a\0b'] }, 'sinks',
    'Sinks, entry 2: Sink has the character NUL or half of another: delete it and type it anew.'],
  ['sluice-stage-in', { broker: 'id', mappings: [{ topic: 'plant/\0/{line}' }] }, 'mappings',
    'Topics, row 1: Topic pattern has the character NUL or half of another: delete it and type it anew.'],
  ['sluice-stage-out', { broker: 'id', source: 'half \ud83d' }, 'source',
    'Source has the character NUL or half of another: delete it and type it anew.'],
  ['sluice-modbus-read', { device: 'id', tags: [] }, 'tags', 'There are no tags. Add one to the table, or import a CSV file.']
]

describe('What was accepted by the form and refused by the gateway', () => {
  for (const [type, options, option, problem] of REFUSED) {
    it(`is marked at ${type}, ${option}: ${JSON.stringify(options)}`, async () => {
      expect(readOptions(await schemaOf(type), { ...options }).problemOf).to.deep.equal({ [option]: problem })
    })
  }

  it('is nothing in the usual addresses', async () => {
    const urls = ['mqtt://plant', 'mqtts://[::1]:8883', 'ws://10.0.0.1:1/mqtt', 'wss://plant.example:65535/a:b/c?d=1:2']
    for (const url of urls) expect(readOptions(await schemaOf('sluice-broker'), { url }).problems, url).to.deep.equal([])
    for (const url of ['mongodb+srv://cluster.example/', 'mongodb://a:1,[::1]:27017,c/?replicaSet=x:y']) {
      expect(readOptions(await schemaOf('sluice-mongodb-server'), { url }).problems, url).to.deep.equal([])
    }
  })

  it('is no name that is long because of where it is, nor one of characters that take several places', async () => {
    const { properties: { table, schema } } = await schemaOf('sluice-postgresql')
    expect(readOption(table, `{source}_${'x'.repeat(62)}`)).to.have.property('value')
    expect(readOption(schema, '🌡️'.repeat(9))).to.have.property('value')
  })

  it('is a longer text than the device returns, where the form knows the device', async () => {
    const { properties } = await schemaOf('sluice-modbus-write')
    const { clash } = await import('../../resources/options.js')
    const { value } = readOption(properties.tags, [{ name: 'text', address: '0', type: 'string', length: 250 }])
    const problem = (/** @type {unknown} */ device) => clash(properties.tags, value, { addressing: 'protocol', device })
    expect(problem('id')).to.equal(undefined)
    expect(problem({ maxRegisters: '125', maxBits: '2000' })).to.equal(
      'Tags, row 1: Length needs 125 registers, and the device returns 123 at a time.')
  })

  it('is one poll group with more tags than a row can have columns', async () => {
    const tags = Array.from({ length: 1000 }, (_, i) => ({ name: `t${i}`, address: String(i) }))
    expect(readOptions(await schemaOf('sluice-modbus-read'), { device: 'id', tags }).problems).to.deep.equal([
      'Tags, row 1000: The group "default" has 1000 tags. Give some of them another group: each can have 999.'
    ])
  })

  it('is no blank around a name: that is warned of', async () => {
    const { properties: { name } } = await schemaOf('sluice-simulator')
    expect(readOption(name, ' press ')).to.deep.equal({
      value: ' press ', warning: 'Name begins or ends with a blank, which is part of it: " press ".'
    })
    expect(readOption(name, '  ')).to.deep.equal({ value: 'machine' })
    expect(readOption({ ...name, 'x-secret': true }, ' ')).to.deep.equal({ value: ' ' })
  })
})

describe('A node that could not open', () => {
  /** @type {string} */
  let userDir
  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-checks-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })

  it('says so once, and not again with its stack when it is closed', async () => {
    await helper.load(stageIn, [{ id: 'in', type: 'sluice-stage-in', broker: 'gone', wires: [] }])
    const node = helper.getNode('in')
    await once(node, 'call:error')
    const { error } = node
    await helper.unload()
    expect(error.args.map((/** @type {unknown[]} */ [text]) => text)).to.deep.equal([
      'SLUICE_BROKER_MISSING: The broker of this node is missing or not set up. Choose a broker in its form, and deploy.'
    ])
  })
})
