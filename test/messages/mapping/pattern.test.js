import { expect } from 'chai'
import { Mapper } from '../../../gateway/messages/mapping/mapping.js'

/** @param {object[]} mappings */
const filters = mappings => new Mapper(mappings).filters

/** Which mapping takes each topic. @param {string[]} topics @param {...string} patterns */
const found = (topics, ...patterns) => topics.map(topic => new Mapper(patterns.map(pattern => ({ topic: pattern }))).find(topic))

/** What of a message on a topic is not its values. @param {object} mapping @param {string} topic */
function place (mapping, topic) {
  const { batches: [batch], refused } = new Mapper([mapping]).decode(Buffer.from('1'), { topic })
  return batch ? [batch.source, batch.tagsAt(0)] : refused[0].reason
}

describe('Patterns of topics', () => {
  it('are subscribed to as MQTT filters, each once', () => {
    expect(filters([
      { topic: 'plant/{line}/{device}/telemetry' }, { topic: 'plant/+/{_}/telemetry' }, { topic: 'depot/{rest…}' },
      { topic: 'yard/{rest...}' }, { topic: '$share/group/hall/{x}/#' }, { topic: '#' }
    ])).to.deep.equal(['plant/+/+/telemetry', 'depot/#', 'yard/#', '$share/group/hall/+/#', '#'])
  })

  it('match whole topics: {rest…} one level or more, # any number', () => {
    expect(found(['a', 'a/b', 'a/b/c', 'a/'], 'a/{rest…}')).to.deep.equal([-1, 0, 0, 0])
    expect(found(['a', 'a/b', 'a/b/c'], 'a/#')).to.deep.equal([0, 0, 0])
    expect(found(['a/x/c', 'a/x', 'a/x/d', 'a//c'], 'a/{name}/c')).to.deep.equal([0, -1, -1, 0])
  })

  it('begin with no wildcard for the topics of the broker itself', () => {
    expect(found(['$SYS/broker/uptime', '$SYS/x'], '#', '{a}/{b…}', '+/x', '$SYS/{what}')).to.deep.equal([-1, 3])
  })

  it('are tried in their order: the first that matches decides', () => {
    expect(found(['plant/hall/door', 'plant/x', 'y'], 'plant/{line}/door', 'plant/#', 'plant/{any…}', '#')).to.deep.equal([0, 1, 3])
  })

  it('name tags and the source', () => {
    const named = { line: 'north', device: 'press' }
    expect(place({ topic: 'plant/{line}/{_}/{device}' }, 'plant/north/4711/press')).to.deep.equal(['plant', named])
    expect(place({ topic: '+/{source}/{rest…}' }, 'plant/hall/a/b')).to.deep.equal(['hall', { rest: 'a/b' }])
    expect(place({ topic: 'plant/{line}/{a…}', source: 'p.{line}.{a}-{topic}' }, 'plant/n/x/y'))
      .to.deep.equal(['p.n.x.y-plant.n.x.y', { line: 'n', a: 'x/y' }])
    expect(place({ topic: '/{a}/+' }, '/x/y')).to.deep.equal(['mqtt', { a: 'x' }])
    expect(place({ topic: '$share/g/plant/{a}' }, 'plant/x')).to.deep.equal(['plant', { a: 'x' }])
    expect(place({ topic: '{source}/x' }, '/x')).to.deep.equal(['x', {}])
  })

  it('refuse what no table can be called, or is too long for a tag', () => {
    expect(place({ topic: '{source}' }, 's'.repeat(256))).to.match(/^its source "s{40}…", of the topic, is no name or over 255 characters$/)
    expect(place({ topic: '{a}' }, 't'.repeat(1025))).to.equal('its tag "a", of the topic, is over 1024 characters')
    expect(place({ topic: '{source}' }, 'a\0')).to.match(/is no name/)
  })

  const wrong = /** @type {const} */ ([
    [{ topic: '' }, /the topic "" is none/],
    [{}, /the topic "" is none/],
    ...['$share//x', '$share', '$share/g', '$share/g/', '$share/+/x', '$share/{g}/x'].map(topic => (
      /** @type {const} */ ([{ topic }, /shares nothing\. Write \$share\/, a group, and the topic/])
    )),
    [{ topic: 'a/{b' }, /the level "{b"\. A placeholder is a whole level/],
    [{ topic: 'a/dev-{id}' }, /the level "dev-{id}"/],
    [{ topic: 'a/{}' }, /the level "{}"/],
    [{ topic: 'a/b+' }, /the level "b\+"\. \+ is a whole level/],
    [{ topic: 'a/#/b' }, /the level "#"/],
    [{ topic: 'a/{b…}/c' }, /has more behind {b…}/],
    [{ topic: 'a/{b…}/#' }, /has more behind {b…}/],
    [{ topic: '{a}/{a}' }, /has {a} twice/],
    [{ topic: 'a/{time}' }, /calls a level {time}/],
    [{ topic: 'a', source: '{b}' }, /the source "{b}" has {b}, which the topic has not/],
    [{ topic: 'a', source: 'x}' }, /a single brace/],
    [{ topic: 'a', preset: 'none' }, /the preset "none" is none\. Choose telegraf, /],
    [{ topic: 'a', tags: ['a..b'] }, /the tag "a\.\.b" is no path/],
    [{ topic: 'a', tags: ['x.a', 'y.a'] }, /two tags are called "a"/],
    [{ topic: 'a', tags: ['time'] }, /the tag "time" cannot be the name/],
    [{ topic: '{a}', tags: ['x.a'] }, /the topic and a tag have the name "a"/],
    [{ topic: 'a', time: '.t' }, /the time "\.t" is no path/],
    [{ topic: 'a', timeFormat: 'h' }, /the time format "h" is none/],
    [{ topic: 'a', values: 'a.' }, /the values "a\." is no path/],
    [{ topic: 'a', rows: '' + '.' }, /the rows "\." is no path/]
  ])
  for (const [mapping, message] of wrong) {
    it(`are refused when they are ${JSON.stringify(mapping)}`, () => {
      expect(() => new Mapper([{ topic: 'good' }, mapping])).to.throw(message).with.property('code', 'SLUICE_MAPPING')
      expect(() => new Mapper([{ topic: 'good' }, mapping])).to.throw(/^Mapping 2: /)
    })
  }
})
