import { resolve } from 'node:path'
import { dataDir } from '../node.js'
import { schema } from './file.schema.js'
import { defineSink } from './sink-node.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-file', schema, {
    sink: 'file',
    toSinkOptions: options => ({ ...options, folder: resolve(dataDir(RED), options.folder) })
  })
}
