import { resolve } from 'node:path'
import { dataDir } from '../node.js'
import { defineSink } from './sink-node.js'
import { schema } from './duckdb.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-duckdb', schema, {
    sink: 'duckdb',
    toSinkOptions: options => ({ ...options, file: resolve(dataDir(RED), options.file) })
  })
}
