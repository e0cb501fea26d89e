import { bench } from '../gateway/bench/bench.js'
import { measuredServers } from './servers/measured.js'

// `npm run bench`: the benchmark of the engine, with the servers of the tests.

process.exitCode = await bench(process.argv.slice(2), process, measuredServers)
// What a measurement leaves open must not keep the process; what has been written must still get out.
process.stdout.write('', () => process.exit())
