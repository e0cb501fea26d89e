import { join } from 'node:path'
import { mkdirSync, writeFileSync } from 'node:fs'
import mqtt from 'mqtt'
import { setTimeout as sleep } from 'node:timers/promises'
import { startMosquitto } from '../servers/mosquitto.js'
import { Gateway, node } from './gateway.js'
import { encode } from '../../gateway/codecs/arrow.js'
import { Batch } from '../../gateway/batch/batch.js'

it('probe', async function () {
  this.timeout(120000)
  const mosquitto = await startMosquitto()
  const gateway = await Gateway.start()
  const show = async (what) => { await sleep(2500); console.log('=====', what); console.log(gateway.log); gateway.log = ''; console.log([...gateway.statuses].map(([k, v]) => k + ': ' + v.text).join('\n'));
    if (!gateway.running) throw new Error('DEAD') 
    const r = await gateway.report(); console.log(JSON.stringify(r.meters.map(m => [m.stage, m.name, Object.fromEntries(Object.entries(m.totals).filter(([, n]) => n > 0))]))); console.log(JSON.stringify(r.gauges)) }
  try {
    mkdirSync(join(gateway.userDir, 'sluice', 'spool'), { recursive: true })
    writeFileSync(join(gateway.userDir, 'sluice', 'spool', 'unwritable'), '')
    await gateway.deploy([
      node('broker', '-broker', { url: mosquitto.url }),
      node('machine', '-simulator', { name: 'machine', sampleRateHz: 100 }, 'stage-out'),
      node('stage-out', '-stage-out', { broker: 'broker' }),
      node('unwritable', '-stage-out', { broker: 'broker' }),
      node('stage-in', '-stage-in', { broker: 'broker', foreignTopics: ['plant/#'] }, 'store'),
      node('store', '-sqlite', { name: 'store', file: join(gateway.folder, 'store.sqlite'), maxAgeMs: 50 }),
      node('taken', '-embedded-broker', { port: mosquitto.port })
    ], { feeds: ['stage-out', 'unwritable'] })
    await show('start')
    await gateway.feed(() => [
      { topic: 'press', payload: NaN }, { topic: 'press', payload: Infinity }, { topic: 'press', payload: { force: -Infinity, speed: 1 } }, { topic: 'press' }, { topic: 'press', payload: () => 1 },
      { payload: 7 }, { topic: 'press', payload: [{ speed: 2 }, { speed: 'fast' }, { speed: 3 }] }, { topic: 'press', payload: [{ speed: 4 }, 5, 'six', null] }, { topic: 'press', payload: { speed: { inner: 1 } } },
      { topic: 'press', payload: { speed: 'slow' } }, { topic: 'press', payload: { time: 'yesterday', speed: 1 } }, { topic: 'press', payload: 'x'.repeat(10_000_000) }
    ])
    await show('values')
    const client = await mqtt.connectAsync(mosquitto.url)
    const gw = (await import('node:fs')).readFileSync(join(gateway.userDir, 'sluice', 'gateway-id'), 'utf8').trim()
    console.log(gw)
    const batch = new Batch({ source: 'press', time: new BigInt64Array([1700000000000000000n]), fields: [{ name: 'speed', type: 'float64' }], columns: [new Float64Array([1])] })
    const arrow = Buffer.from(encode(batch)); const idd = Buffer.from(encode(batch.withIdentity({ gateway: 'elsewhere', source: 'press', epoch: '1-0', seq: 0 })))
    console.log(arrow.length, idd.length)
    for (const topic of ['plant/press', `sluice/v1/${gw}/press/data`]) {
      await client.publishAsync(topic, '{"speed":', { qos: 1 })
      await client.publishAsync(topic, '', { qos: 1 })
      await client.publishAsync(topic, '{"speed":NaN}', { qos: 1 })
      await client.publishAsync(topic, Buffer.from([0xff, 0xfe, 0, 1]), { qos: 1 })
      await client.publishAsync(topic, arrow.subarray(0, 300), { qos: 1 })
      await client.publishAsync(topic, arrow.subarray(0, 8), { qos: 1 })
      await client.publishAsync(topic, idd.subarray(0, idd.length - 40), { qos: 1 })
      await client.publishAsync(topic, arrow, { qos: 1 })
      await client.publishAsync(topic, JSON.stringify({ speed: 9, note: 'y'.repeat(10_000_000) }), { qos: 1 })
    }
    await show('foreign')
    for (const [topic, payload] of [['head', '{"epochs":'], ['head', 'null'], ['head', '{"epochs":5}'], ['head', '{"epochs":[{"epoch":"1-a","first":"x","last":null}]}'], ['head', '{"epochs":[{}]}'], ['commit/store', 'x'], ['commit/store', '{"epochs":{"1-a":[null]}}'], ['replay/store', '[]']]) {
      await client.publishAsync(`sluice/v1/${gw}/junk/${topic}`, payload, { qos: 1 })
      await client.publishAsync(`sluice/v1/${gw}/machine/${topic}`, payload, { qos: 1 })
    }
    await show('protocol')
    await client.publishAsync(`sluice/v1/${gw}/machine/replay/store`, '{"epochs":{"1-a":[[0,9007199254740991]]}}', { qos: 1 })
    await show('replay')
    client.end()
  } catch (e) { console.log(e, gateway.log) } finally { await gateway.remove(); await mosquitto.stop() }
})
