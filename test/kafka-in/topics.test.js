import { expect } from 'chai'
import { topicsOf } from '../../broker/kafka-in/topics.js'

describe('the topics of Kafka in', () => {
  /** @param {string[]} names @param {string} topic */
  const reads = (names, topic) => /** @type {RegExp} */ (topicsOf(names)).test(topic)

  it('are names, or what a star stands for', () => {
    expect(topicsOf(['plant.press', 'plant.lathe'])).to.deep.equal(['plant.press', 'plant.lathe'])
    expect(reads(['plant.*', 'mill'], 'plant.press')).to.equal(true)
    expect(reads(['plant.*', 'mill'], 'mill')).to.equal(true)
    for (const other of ['plants.press', 'plantXpress', 'mills', 'x.plant.press']) expect(reads(['plant.*', 'mill'], other)).to.equal(false)
  })

  it('are none of Sluice\'s own where a star stands for all: it would store its own batches again and again', () => {
    for (const own of ['sluice_stage_data', 'sluice_commits']) {
      expect(reads(['*'], own)).to.equal(false)
      expect(reads(['*', own], own)).to.equal(true)
      expect(reads(['sluice_*'], own)).to.equal(true)
    }
    expect(reads(['*'], 'plant.press')).to.equal(true)
  })
})
