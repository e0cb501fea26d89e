import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { SECTIONS } from '../../gateway/first-boot/schema.js'
import { readSettings } from '../../gateway/first-boot/toml.js'

const TEMPLATE = readFileSync(new URL('../../packaging/image/sluice.toml', import.meta.url), 'utf8')

/** @param {string} text */
const problems = text => readSettings(text).problems.map(({ code, message }) => `${code}: ${message}`)

describe('sluice.toml', () => {
  it('as the image has it says nothing', () => {
    const { parts, problems: found } = readSettings(TEMPLATE)
    expect(found).to.deep.equal([])
    expect(Object.values(parts).flat()).to.deep.equal([])
  })

  it('with every comment taken away from a key says everything, and nothing wrong', () => {
    const { parts, problems: found } = readSettings(TEMPLATE.replace(/^#(?=[\w[])/gm, ''))
    expect(found).to.deep.equal([])
    const given = Object.entries(parts).map(([name, tables]) => [name, tables.map(part => [...part.given])])
    const known = Object.entries(SECTIONS).map(([name, { properties }]) => [name, [Object.keys(properties)]])
    expect(given).to.deep.equal(known)
  })

  it('is told what is wrong in it, where and what to do, and all else holds', () => {
    const text = [
      '[system]', 'host_name = "Gateway 1"', 'time_zone = "UTC"', 'hostname = "gateway"', '',
      '[[can]]', 'name = "can0"', '', '[[can]]', 'name = "can1"', 'bit_rate = 125', '',
      '[wlan]', 'ssid = "plant"', '', '[ethernet]', 'gateway = "10.0.0.1"', '', '[can0]', '[[flow]]'
    ].join('\n')
    expect(problems(text)).to.deep.equal([
      'SLUICE_TOML_VALUE: Line 4: [system] has no key "hostname". Those it has: host_name, time_zone, ntp_servers, read_only_root, ' +
      'config_txt.',
      'SLUICE_TOML_VALUE: Line 2: [system] host_name must look like sluice; "Gateway 1" does not. ' +
      SECTIONS.system.properties.host_name.description,
      'SLUICE_TOML_VALUE: Line 11: [can] bit_rate must be between 5,000 and 1,000,000 bit/s; 125 is too small. All devices of a bus have ' +
      'the same one.',
      `SLUICE_TOML_VALUE: Line 13: There is no table [wlan]. Those there are: ${Object.keys(SECTIONS).join(', ')}.`,
      `SLUICE_TOML_VALUE: Line 16: [ethernet] address is missing. ${SECTIONS.ethernet.properties.address.description}`,
      `SLUICE_TOML_VALUE: Line 19: There is no table [can0]. Those there are: ${Object.keys(SECTIONS).join(', ')}.`,
      'SLUICE_TOML_VALUE: Line 20: "flow" is not a table. Begin it with a line [flow], its keys below.'
    ])
    const { parts } = readSettings(text)
    expect(parts.system[0].values.time_zone).to.equal('UTC')
    expect(parts.can.map(({ wrong }) => [...wrong])).to.deep.equal([[], ['bit_rate']])
  })

  it('tells of a key whose table is a comment still', () => {
    expect(problems('#[ethernet]\naddress = "10.0.0.1/8"\n')).to.deep.equal([
      'SLUICE_TOML_VALUE: Line 2: "address" stands outside of all tables. Take the # away from the line [name] above it, too.'
    ])
  })

  it('is no table where it is a value, and knows no tables by the names of JavaScript', () => {
    expect(problems('wifi = "plant"')[0]).to.match(/Line 1: "wifi" is not a table\. Begin it with a line \[wifi\]/)
    expect(problems('[constructor]\n["__proto__"]\na = 1')).to.have.length(2)
  })

  it('names each CAN interface and each device once', () => {
    const text = '[[can]]\nname = "can0"\n[[can]]\nname = "can0"\nbit_rate = 125000\n'
    expect(problems(text)).to.deep.equal(['SLUICE_TOML_VALUE: Line 4: There are two [[can]] named can0. The first counts.'])
    expect(readSettings(text).parts.can.map(({ wrong }) => wrong.size)).to.deep.equal([0, 1])
  })

  it('that is not TOML is told by its place, without what stands there', () => {
    const [found] = problems('[editor]\npassword = "very secret" "again"\n')
    expect(found).to.match(/^SLUICE_TOML_SYNTAX: Line 2, character \d+: .*Nothing of the file could be applied/).and.not.contain('secret')
  })

  it('has its passwords repeated nowhere, not even where they are wrong', () => {
    const text = '[editor]\npassword = "Hidden"\n[wifi]\nssid = "a"\ncountry = "DE"\npassword = "Hidden"\n' +
      '[[device]]\nname = "a"\npassword = "Hidden"\n'
    expect(problems(text)).to.have.length(4)
    expect(problems(text).join()).to.contain('Line 2: [editor] password is not as it has to be.').and.not.contain('Hidden')
  })

  it('is refused at once where it is so long that to tell all that is wrong would take minutes', () => {
    const { problems: [problem], isReadable } = readSettings('[[can]]\nname = "can0"\n'.repeat(20_000))
    expect(isReadable).to.equal(false)
    expect(problem.message).to.match(/^It has 440000 characters, and may have 65536\. Nothing of the file could be applied\./)
  })

  it('may begin as Windows writes it', () => {
    expect(problems('\uFEFF[system]\r\nhost_name = "gateway"\r\n')).to.deep.equal([])
  })
})
