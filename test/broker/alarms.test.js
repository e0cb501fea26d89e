import { expect } from 'chai'
import { Alarms } from '../../broker/out/alarms.js'

describe('alarms of stage out', () => {
  it('name each of two databases that are set back at once, and neither again at once', () => {
    /** @type {string[]} */
    const logged = []
    const alarms = new Alarms(/** @type {any} */ ({ warn: (/** @type {string} */ text) => logged.push(text) }))
    for (const name of ['history', 'archive', 'history']) alarms.raise('setBack', 'SLUICE_SET_BACK', name, 1, name)
    expect(logged).to.deep.equal(['SLUICE_SET_BACK: history', 'SLUICE_SET_BACK: archive'])
    expect(alarms.counts.setBack).to.equal(3)
  })
})
