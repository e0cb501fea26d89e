import { cassandra, fetchJars, kafka } from './jars.js'

process.exitCode = [cassandra, kafka].map(fetchJars).includes(false) ? 1 : 0
