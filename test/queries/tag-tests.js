import { expect } from 'chai'
import { batchOf, T0 } from '../databases/contract/batches.js'
import { tagOf } from '../messages/codecs/batches.js'
import { ALL, samples, times } from './readings.js'

/** @typedef {import('../../gateway/databases/reader.js').WantedTags} WantedTags */

const CHOICES = /** @type {[title: string, tags: WantedTags, values: number[]][]} */ ([
  ['one value', { device: ['a'] }, [1, 4, 5]],
  ['several values', { device: ['a', 'b'] }, [1, 2, 4, 5]],
  ['several tags', { device: ['a'], line: ['7'] }, [1, 4]],
  ['none of that name', { device: [null] }, [3, 6]],
  ['one value or none', { device: ['b', null] }, [2, 3, 6]],
  ['a value that no row has', { device: ['nobody'] }, []],
  ['a tag that no row has', { nowhere: ['a'] }, []],
  ['a tag that no row has, or none', { nowhere: ['a', null] }, [1, 2, 3, 4, 5, 6]],
  ['a value that no text of the database can be', { device: ['a\0'] }, []]
])

/** @param {import('./contract.js').Subject} subject */
export function tagTests ({ it, reading }) {
  describe('rows with certain tags', () => {
    const mixed = () => reading(
      batchOf([1, 2, 3, 4], { time: times(T0, 4), tags: { line: '7', device: tagOf(['a', 'b', undefined, 'a']) } }),
      batchOf([5], { time: times(T0 + 4n, 1), tags: { line: '8', device: 'a' } }),
      batchOf([6], { time: times(T0 + 5n, 1) })
    )

    it('are chosen, whether their batch has a tag for all or for each of them', async () => {
      const reader = await mixed()
      for (const [title, tags, values] of CHOICES) {
        const read = await samples(reader, { sensors: ['force'], ...ALL, tags })
        expect(read.map(({ value }) => value), title).to.deep.equal(values)
      }
    })

    it('are what statistics and edges are made of', async () => {
      const reader = await mixed()
      for (const [title, tags, values] of CHOICES) {
        const first = values.length > 0 ? T0 + BigInt(values[0] - 1) : null
        const last = values.length > 0 ? T0 + BigInt(/** @type {number} */ (values.at(-1)) - 1) : null
        const summaries = await reader.summaries({ sensors: ['force'], ...ALL, tags, statistics: ['count', 'max'] })
        expect(summaries.map(({ count, max }) => [count, max]), title).to.deep.equal(last === null ? [] : [[values.length, values.at(-1)]])
        expect(await reader.edge({ sensor: 'force', ...ALL, tags, above: 0 }), title).to.equal(first)
        expect(await reader.edge({ sensor: 'force', ...ALL, tags, above: 0, last: true }), title).to.equal(last)
        expect(await reader.minimum({ sensor: 'force', ...ALL, tags }), title).to.equal(first)
      }
    })

    it('are found under names and values of any characters, and of tags called like fields and columns', async () => {
      const name = 'it\'s Süd, $1 ? = % .'
      const odd = `"${name}"\\n`
      const tags = { [name]: tagOf(['x', odd]), force: tagOf(['1', '2']), time: 't', sensor: 's', value: 'v', source: 'o', size: 'l' }
      const reader = await reading(batchOf([1, 2], { tags }))
      const chosen = async (/** @type {WantedTags} */ wanted) =>
        (await samples(reader, { sensors: ['force'], ...ALL, tags: wanted })).map(({ value }) => value)
      expect(await chosen({ [name]: [odd] })).to.deep.equal([2])
      expect(await chosen({ force: ['2'] })).to.deep.equal([2])
      for (const [tag, value] of Object.entries({ time: 't', sensor: 's', value: 'v', source: 'o', size: 'l' })) {
        expect(await chosen({ [tag]: [value] }), tag).to.deep.equal([1, 2])
        expect(await chosen({ [tag]: ['other'] }), tag).to.deep.equal([])
      }
    })

    it('are found among 10,000 devices', async () => {
      const values = Array.from({ length: 10_000 }, (_, i) => i)
      const device = tagOf(values.map(i => i % 10 === 0 ? undefined : `device ${i}`))
      const reader = await reading(batchOf(values, { tags: { device } }))
      const chosen = async (/** @type {WantedTags} */ tags) => (await samples(reader, { sensors: ['force'], ...ALL, tags })).length
      expect(await chosen({ device: ['device 9999'] })).to.equal(1)
      expect(await chosen({ device: [null] })).to.equal(1000)
      expect(await chosen({ device: values.slice(0, 100).map(i => `device ${i}`) })).to.equal(90)
    })
  })
}
