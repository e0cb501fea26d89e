import { resolve } from 'node:path'
import { dataDir } from '../node.js'
import { defineSink } from './sink-node.js'
import { schema } from './sqlite.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-sqlite', schema, {
    sink: 'sqlite',
    toSinkOptions: options => ({ ...options, file: resolve(dataDir(RED), options.file) })
  })
}
