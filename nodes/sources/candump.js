import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { openReplay } from '../../gateway/sources/replay.js'
import { schema } from './candump.schema.js'
import { defineSource } from './source.js'

const packageRoot = fileURLToPath(new URL('../../', import.meta.url))

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSource(RED, 'sluice-candump', schema, (options, context) => {
    return openReplay({ ...options, logFile: located(options.logFile), dbcFile: located(options.dbcFile) }, context)
  })
}

/** A relative path that is not there from the working directory is one of the package's, where the example log is. @param {string} file */
function located (file) {
  return existsSync(file) ? path.resolve(file) : path.resolve(packageRoot, file)
}
