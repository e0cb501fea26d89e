import { expect } from 'chai'
import { headlineOf, headlines, MAX_HEADLINE } from '../../gateway/base/headlines.js'
import { describe as describeError, SluiceError } from '../../gateway/base/errors.js'
import { productOf, sinkTypes } from '../../gateway/databases/index.js'
import { errors } from '../../tools/errors.js'

/** Codes that no node shows: of the command line, of who asks the gateway over HTTP, of other programs. */
const NOT_OF_NODES = [
  'Starting and setting up', 'First boot', 'Exporting and applying', 'Updates', 'Access from the network', 'Copying history', 'Dashboards',
  'History of the gateway', 'Monitor of resources'
]

describe('headlines', () => {
  const all = /** @type {Record<string, string>} */ (headlines)

  it('has one of every code that a node can show, and of none that there is not', () => {
    const codes = Object.entries(errors).filter(([group]) => !NOT_OF_NODES.includes(group)).flatMap(([, its]) => Object.keys(its))
    expect(codes.filter(code => !(code in all))).to.deep.equal([])
    const known = new Set(Object.values(errors).flatMap(its => Object.keys(its)))
    expect(Object.keys(all).filter(code => code.startsWith('SLUICE_') && !known.has(code))).to.deep.equal([])
  })

  it('says each in at most 32 characters, whatever the database is called', () => {
    for (const type of [...Object.keys(sinkTypes), 'unknown']) {
      for (const code of Object.keys(all)) {
        const headline = headlineOf(`${code}: and much more`, { database: productOf(type) })
        expect(headline.length, headline).to.be.at.most(MAX_HEADLINE).and.above(3)
        expect(headline).to.not.match(/SLUICE_|undefined|NaN|\{/)
      }
    }
  })

  it('takes an error as well as its line', () => {
    const error = new SluiceError('SLUICE_BROKER_AUTH', 'The broker at plant does not let this client in.')
    expect([headlineOf(error), headlineOf(describeError(error))]).to.deep.equal(['broker refuses the login', 'broker refuses the login'])
    expect(headlineOf(Object.assign(new Error('write'), { code: 'ENOSPC' }))).to.equal('the disk is full')
  })

  it('points to the log where there is no code', () => {
    expect(headlineOf(new TypeError('x is undefined'))).to.equal('failed, see the log')
    const known = { database: 'PostgreSQL', otherwise: '{database} cannot store, see log' }
    expect(headlineOf('57P03: it starts', known)).to.equal('PostgreSQL cannot store, see log')
  })

  it('tells a database that is away from one that answers', () => {
    for (const [text, headline] of [
      ['SLUICE_SINK_CONNECT: No connection to plant:5432: connect ECONNREFUSED.', 'PostgreSQL not reachable'],
      ['SLUICE_SINK_CONNECT: No connection to plant:5432: password authentication failed.', 'PostgreSQL refuses the login'],
      ['SLUICE_SINK_CONNECT: No connection to plant:5432: database "x" does not exist.', 'PostgreSQL lacks what is named'],
      ['SLUICE_SINK_POSTGRESQL: plant:5432: Connection terminated unexpectedly.', 'PostgreSQL not reachable'],
      ['SLUICE_SINK_POSTGRESQL: plant:5432: 53100: could not extend file.', 'PostgreSQL refuses to store']
    ]) expect(headlineOf(text, { database: 'PostgreSQL' })).to.equal(headline)
  })
})
