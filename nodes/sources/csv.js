import { openCsvPlayer } from '../../gateway/sources/csv/player.js'
import { schema } from './csv.schema.js'
import { located } from './located.js'
import { defineSource } from './source.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSource(RED, 'sluice-csv', schema, (options, context) => openCsvPlayer({ ...options, file: located(options.file) }, context))
}
