import { cassandra, engines, fetchJars, kafka, questdb } from './jars.js'

const wanted = process.argv.includes('--engines') ? [cassandra, kafka, questdb, ...engines] : [cassandra, kafka, questdb]
process.exitCode = wanted.map(fetchJars).includes(false) ? 1 : 0
