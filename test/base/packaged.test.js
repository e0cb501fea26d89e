import { existsSync } from 'node:fs'
import { expect } from 'chai'
import { located } from '../../nodes/sources/located.js'
import { packaged } from '../../gateway/base/packaged.js'

describe('Files of the package', () => {
  for (const file of ['data/nmea2000.log', 'examples/data/nmea2000.log']) {
    it(`are found by the name ${file}, from any folder`, () => {
      expect(existsSync(packaged(file))).to.equal(true)
      const before = process.cwd()
      process.chdir('/')
      try {
        expect(located(file)).to.equal(packaged('data/nmea2000.log'))
      } finally {
        process.chdir(before)
      }
    })
  }

  it('are not looked for where a path is absolute', () => {
    expect(packaged('/tmp/own.dbc')).to.equal('/tmp/own.dbc')
  })
})
