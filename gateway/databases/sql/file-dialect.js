import { quote } from '../names.js'

/** What databases that are a file have in common: names that differ only by the case of ASCII letters are the same to them. */
export const fileDialect = {
  maxNameBytes: 1000,
  maxColumns: 2000,
  fold: (/** @type {string} */ name) => name.replace(/[A-Z]/g, letter => letter.toLowerCase()),
  timeColumns: [{ name: 'time', type: /** @type {const} */ ('time'), origin: /** @type {const} */ ('time') }],
  ownNames: ['time', 'source']
}

/** How their tables are read. */
export const fileReadDialect = { quote, ownNames: ['time', 'time_ns', 'source'], missingTableFix: 'Check its name' }
