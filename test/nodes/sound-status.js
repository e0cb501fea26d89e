import { expect } from 'chai'
import { MAX_STATUS } from '../../nodes/status.js'

/** What the editor shows below a node of Sluice is a sentence for people. @param {{fill?: string, shape?: string, text?: string}} status */
export function isSound ({ fill, shape, text = '' }) {
  expect(text.length, text).to.be.within(1, MAX_STATUS)
  expect(text).to.not.match(/SLUICE_|NaN|undefined|\bnull\b|Infinity|[,;: ]$|, ,/)
  expect(fill).to.be.oneOf(['red', 'green', 'yellow', 'blue', 'grey'])
  expect(shape).to.be.oneOf(['dot', 'ring'])
}
