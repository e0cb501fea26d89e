/**
 * Warp 10 as the wide layout sees it: what has one value of the label `id` is a table, whose columns are classes, of the kind of value that
 * their points have, and the other labels.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  product: 'Warp 10',
  maxNameBytes: 1000,
  maxColumns: Infinity,
  fold: name => name,
  timeColumns: [],
  ownNames: [
    'time', 'time_ns', 'id', 'source', 'gateway', 'row', 'ns', 'fields', 'allchannels', 'sluice_commits', '.app', '.owner', '.producer',
    '.uuid'
  ],
  columnTypes: {
    time: 'int64', time_ns: 'int64', float64: 'float64', float32: 'float64', int64: 'int64', int32: 'int64', int16: 'int64',
    uint16: 'int64', bool: 'bool', string: 'string', json: 'string', bytes: 'bytes'
  },
  accepts: {
    time: ['int64'],
    time_ns: ['int64'],
    float64: ['float64'],
    float32: ['float64'],
    int64: ['int64'],
    int32: ['int64', 'float64'],
    int16: ['int64', 'float64'],
    uint16: ['int64', 'float64'],
    bool: ['bool'],
    string: ['string'],
    json: ['string'],
    bytes: ['bytes']
  }
}
