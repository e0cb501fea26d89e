import { parseArgs } from 'node:util'
import { describe } from '../../gateway/base/errors.js'
import { fuzz } from './run.js'
import { targets } from './targets.js'

const USAGE = `Usage: npm run fuzz -- [--cases N] [--seed S] [--first F] [--targets NAME,…]

Reads what others may have sent: good messages with random damage, and random messages. Each must be read or refused, quickly, without
taking much more memory than it has bytes, and nothing may throw but a refusal.

  --cases N       how many (default 20000)
  --seed S        the same cases again (default 1)
  --first F       the number of the first case (default 0): with --cases 1, one of them alone
  --targets NAME  default: all, in turn, of
                  ${targets.map(({ name }) => name).join(', ')}

The result is JSON: the cases; the one that took longest, the one that made most values; the peak of memory; what failed.

Exit status: 0 when nothing failed, 1 when something did, 2 for wrong arguments.
`

process.exitCode = await main(process.argv.slice(2))

/** @param {string[]} args @returns {Promise<number>} the exit code */
async function main (args) {
  const options = readArguments(args)
  if (typeof options === 'string') {
    process.stderr.write(`fuzz: ${options}\n\n${USAGE}`)
    return 2
  }
  const result = await fuzz(options.chosen, options)
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  return result.failed === 0 ? 0 : 1
}

/** @param {string[]} args @returns {{cases: number, seed: number, first: number, chosen: typeof targets}|string} what is wrong with them */
function readArguments (args) {
  let values
  try {
    const text = /** @type {const} */ ({ type: 'string' })
    values = parseArgs({ args, options: { cases: text, seed: text, first: text, targets: text } }).values
  } catch (error) {
    return describe(error)
  }
  const [cases, seed, first] = [values.cases ?? '20000', values.seed ?? '1', values.first ?? '0'].map(Number)
  if (![cases, seed, first].every(number => Number.isSafeInteger(number) && number >= 0)) return 'cases, seed and first are whole numbers'
  const names = values.targets?.split(',') ?? targets.map(({ name }) => name)
  const chosen = targets.filter(({ name }) => names.includes(name))
  const missing = names.filter(name => !chosen.some(target => target.name === name))
  return missing.length > 0 ? `there is no target ${missing.join(', ')}` : { cases, seed, first, chosen }
}
