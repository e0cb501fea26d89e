import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { jarFiles, missingJava, spark } from '../java/jars.js'

/** Where test/servers/python/install.js puts it. */
const folder = fileURLToPath(new URL('../../../node_modules/.cache/sluice/python-spark', import.meta.url))

/** @param {string} name */
export const sparkScript = name => fileURLToPath(new URL(`../../../engines/spark/${name}.py`, import.meta.url))

/** What keeps a job from being started, or null. */
export function missingSpark () {
  if (!existsSync(join(folder, 'installed.txt'))) return 'pyspark is not installed (npm run test:engines installs it where python3 has pip)'
  return missingJava(spark)
}

/** @param {{temporary: string, threads?: number}} setup @returns {string[]} the command, without script and arguments */
export function sparkCommand ({ temporary, threads = 2 }) {
  const settings = {
    'spark.ui.enabled': 'false', 'spark.local.dir': temporary, 'spark.driver.bindAddress': '127.0.0.1',
    'spark.driver.extraJavaOptions': `-Djava.io.tmpdir=${temporary}`
  }
  return [
    join(folder, 'pyspark', 'bin', 'spark-submit'),
    '--master', `local[${threads}]`, '--driver-memory', '1g', '--jars', jarFiles(spark).join(','),
    ...Object.entries(settings).flatMap(([name, value]) => ['--conf', `${name}=${value}`])
  ]
}

export const sparkEnvironment = {
  SPARK_HOME: join(folder, 'pyspark'),
  SPARK_LOCAL_IP: '127.0.0.1',
  PYTHONPATH: folder,
  PYSPARK_PYTHON: 'python3',
  PYTHONDONTWRITEBYTECODE: '1'
}
