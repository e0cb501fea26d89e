import { buildFlink } from '../engines/flink.js'
import { cassandra, engines, fetchJars, kafka } from './jars.js'

const isAll = process.argv.includes('--engines')
const found = [cassandra, kafka, ...isAll ? engines : []].map(fetchJars)
if (isAll) found.push(buildFlink())
process.exitCode = found.includes(false) ? 1 : 0
