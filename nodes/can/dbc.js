import { statSync } from 'node:fs'
import { readDbcFile } from '../../gateway/can/dbc/file.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { servePost } from '../serve-post.js'
import { located } from '../sources/located.js'

/**
 * @typedef {import('../../gateway/can/dbc/parser.js').Warning} Warning
 * @typedef {{ok: true, messages: number, signals: number, warnings: Warning[], hint?: string}|{ok: false, text: string}} Outcome  `text`:
 *   what is wrong, and what to do
 */

const MAX_WARNINGS = 1000
const MAX_CHARACTERS = 200
const MAX_BYTES = 64_000_000

/**
 * Answers POST sluice-can/dbc, to those who may deploy, as lines of the file are in the answer. Its body is `{dbcFile}`, a path as in a
 * form; the answer is an Outcome with at most 1000 bad lines.
 * @param {import('../node.js').RED} RED
 */
export function serveDbcChecks (RED) {
  const answer = (/** @type {any} */ request, /** @type {any} */ response) => response.json(outcomeOf(request.body?.dbcFile))
  servePost(RED, '/sluice-can/dbc', answer)
}

/** @param {unknown} dbcFile @returns {Outcome} */
function outcomeOf (dbcFile) {
  try {
    const { messages, warnings, hint } = readDbcFile(regular(dbcFile))
    return {
      ok: true,
      messages: messages.length,
      signals: messages.reduce((sum, { signals }) => sum + signals.length, 0),
      warnings: warnings.slice(0, MAX_WARNINGS).map(({ line, text, reason }) => ({ line, text: text.slice(0, MAX_CHARACTERS), reason })),
      ...hint && { hint: `${hint}.` }
    }
  } catch (error) {
    return { ok: false, text: error instanceof SluiceError ? error.message : describe(error) }
  }
}

/** The path of a file, which must not be a device or too large to be read at once. @param {unknown} dbcFile */
function regular (dbcFile) {
  if (typeof dbcFile !== 'string' || dbcFile === '') {
    throw new SluiceError('SLUICE_DBC_FILE', 'No DBC file is given.', { fix: 'Enter its path.' })
  }
  const file = located(dbcFile)
  const facts = statSync(file, { throwIfNoEntry: false })
  if (!facts || (facts.isFile() && facts.size <= MAX_BYTES)) return file
  throw new SluiceError('SLUICE_DBC_FILE', `${file} is not a DBC file: ${facts.isFile() ? 'it is too large' : 'it is not a file'}.`)
}
