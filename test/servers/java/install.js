import { cassandra, fetchJars, questdb } from './jars.js'

process.exitCode = [cassandra, questdb].map(fetchJars).includes(false) ? 1 : 0
