import { cassandra, fetchJars, kafka, questdb } from './jars.js'

process.exitCode = [cassandra, kafka, questdb].map(fetchJars).includes(false) ? 1 : 0
