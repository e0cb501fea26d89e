import { cassandra, fetchJars } from './jars.js'

process.exitCode = [cassandra].map(fetchJars).includes(false) ? 1 : 0
