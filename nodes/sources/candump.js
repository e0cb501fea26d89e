import { openCandumpPlayer } from '../../gateway/can/candump/player.js'
import { schema } from './candump.schema.js'
import { located } from './located.js'
import { defineSource } from './source.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSource(RED, 'sluice-candump', schema, (options, context) => {
    return openCandumpPlayer({ ...options, logFile: located(options.logFile), dbcFile: located(options.dbcFile) }, context)
  })
}
