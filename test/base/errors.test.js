import { ProtocolError } from '@platformatic/kafka'
import { expect } from 'chai'
import { describe as said, SluiceError } from '../../gateway/base/errors.js'

describe('what is said about an error', () => {
  it('has its code once, and the full stop of our own sentences only', () => {
    expect(said(new SluiceError('SLUICE_SINK', 'It failed.', { fix: 'Try again.' }))).to.equal('SLUICE_SINK: It failed. Try again.')
    expect(said(Object.assign(new Error('It ended. Twice.\n'), { code: 'EPIPE' }))).to.equal('EPIPE: It ended. Twice')
    expect(said(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))).to.equal('read ECONNRESET')
    expect(said(new ProtocolError('UNKNOWN_TOPIC_OR_PARTITION'))).to.match(/^PLT_KFK_PROTOCOL: .+[^.]$/)
    expect(said(new AggregateError([new Error('one.'), new Error('two.')]))).to.equal('one; two')
    expect(said('a text.')).to.equal('a text.')
  })
})
