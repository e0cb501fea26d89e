import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { KINDS } from '../../gateway/alarms/kinds/index.js'
import { machineKinds } from '../../gateway/alarms/kinds/machine.js'
import { alarmsOf } from '../../gateway/stats/host/alarms.js'
import { phrase, speaker } from '../../gateway/stats/phrases.js'
import { HOUR, Rig } from './rig.js'

const GATEWAY = join(import.meta.dirname, '../../gateway')
const catalogueOf = (/** @type {string} */ language) =>
  JSON.parse(readFileSync(join(GATEWAY, `stats/locales/${language}.json`), 'utf8'))
const english = catalogueOf('en-US')
const files = globSync(['alarms/**/*.js', 'stats/host/alarms.js'], { cwd: GATEWAY })
const code = files.map(name => readFileSync(join(GATEWAY, name), 'utf8')).join('\n')

/** Of which the code makes keys: of kinds, reasons, and what is wrong with a broker. */
const made = [
  ...Object.keys(KINDS).filter(kind => !(kind in machineKinds)).map(kind => `${kind}.several`), // there is one machine
  ...['identity-clash', 'set-back', 'strangers', 'impossible', 'too-big', 'doubts', 'rows-lost', 'rows-lost.gone', 'rows-dropped',
    'broker-unreachable', 'broker-unreachable.refused', 'not-stored.sink.unreached', 'not-stored.sink.stopped', 'not-stored.sink.away'
  ].map(kind => `${kind}.fix`),
  ...['', '.filling', '.refused', '.refused.filling'].map(end => `broker-unreachable${end}`),
  ...['now', 'before'].map(when => `host.power.${when}`),
  ...['underVoltage', 'frequencyCapped', 'throttled', 'softTemperatureLimit'].map(reason => `host.power.${reason}`)
]

describe('Texts of alarms', () => {
  it('are all in the catalogue', () => {
    const lines = code.split('\n').filter(line => /\b(phrase|counted|lossOf)\(/.test(line))
    const called = lines.flatMap(line => [...line.matchAll(/(?<!=== |alarm\()'([a-z][a-z.-]+)'/g)].map(([, key]) => key))
    expect(called.length).to.be.above(70)
    expect([...called, ...made].filter(key => !Object.hasOwn(english, key))).to.deep.equal([])
  })

  it('are all used', () => {
    const used = (/** @type {string} */ key) => made.includes(key) || code.includes(`'${key}'`)
    expect(Object.keys(english).filter(key => !used(key))).to.deep.equal([])
  })

  it('are German for a German reader, and English for all others: no key, no place that is left open', () => {
    const say = speaker(catalogueOf('de'), 'de')
    const rig = new Rig()
    const name = 'Halle'
    const disk = { freeBytes: 4e9, totalBytes: 64e9 }
    const host = { temperatureCelsius: 83, cards: [{ name: 'mmcblk0', kind: 'MMC', wornPercent: 90 }], disk }
    Object.assign(rig.stats, { host: { report: { alarms: alarmsOf(/** @type {any} */ (host)) } } })
    rig.gauge(`sink ${name}`, { connected: false, problem: 'SLUICE_SINK_CONNECT: away', keptDeadLetters: 1, pendingRows: 1 })
    rig.gauge(`spool ${name}`, { connected: false, broker: 'b', blocked: 'full', onDiskBytes: 99, maxBytes: 100, unstoredBytes: 5 })
    rig.pass(5)
    rig.gauge(`spool ${name}`, { lostRows: 1, droppedRows: 2, clashes: 1, strangers: 3, impossible: 1, tooBig: 4, setBack: 1, doubts: 1 })
    rig.pass(HOUR / 2)
    const { active } = rig.alarms
    expect(active.length).to.be.above(12)
    const said = active.flatMap(({ phrases }) => Object.values(phrases ?? {}).map(say))
    expect(said).to.include.members([
      'Halle ist nicht erreichbar: 1 Zeile wartet, der Spool ist voll',
      'Der volle Spool von Halle hat 2 Zeilen verworfen',
      'Halle hat 1 Zeile abgelehnt: als Dead Letter aufbewahrt',
      'Der Datenordner: 4.00 GB von 64.0 GB sind frei'
    ])
    expect(said.filter(text => /[{}]|\b(the|and|of|has)\b/.test(text))).to.deep.equal([])
    for (const { what, fix } of active) expect(`${what} ${fix}`).not.to.match(/[{}]/)
  })

  it('are the key where a catalogue lacks them, and leave what is filled in as it is', () => {
    const say = speaker({ known: '{name} of {list}' }, 'en-US')
    expect(say(phrase('lost'))).to.equal('lost')
    expect(say(phrase('known', { name: '{list} $& {name}', list: ['a', phrase('known', { name: 'b', list: 'c' })] })))
      .to.equal('{list} $& {name} of a, b of c')
  })
})
