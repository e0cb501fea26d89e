import { buildImage } from './image/build.js'
import { readOptions, USAGE } from './image/options.js'

const log = (/** @type {string} */ line) => console.log(line)

try {
  const options = readOptions(process.argv.slice(2))
  if (options.help) log(USAGE)
  else if (options.task === 'build') buildImage(options, log)
  else if (options.task === 'boot-test') await (await import('./image/boot-test.js')).bootTest(options, log)
  else if (options.task === 'update-test') await (await import('./image/update-test.js')).updateTest(options, log)
  else await (await import('./image/stop-test.js')).stopTest(options, log)
} catch (error) {
  console.error(`image: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
