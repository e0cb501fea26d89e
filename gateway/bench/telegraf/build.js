import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const VERSION = 'v1.37.2'
const PACKAGE = `github.com/influxdata/telegraf/cmd/telegraf@${VERSION}`
/** Only what is measured: with all its plug-ins it takes many times as long. */
const TAGS = 'custom,inputs.mqtt_consumer,outputs.postgresql,parsers.influx,parsers.json'

/** Where all that only measurements and tests need is kept. */
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/sluice/', import.meta.url))

/**
 * Telegraf, built once from the module proxy by the machine's own Go and its settings: about five minutes.
 * @param {{cache?: string, env?: NodeJS.ProcessEnv, progress?: (text: string) => void}} [options]
 * @returns {Promise<{program: string} | {missing: string}>} `missing`: why there is none, a sentence
 */
export async function buildTelegraf ({ cache = CACHE, env = process.env, progress = () => {} } = {}) {
  const folder = join(cache, `telegraf-${VERSION}`)
  const program = join(folder, 'telegraf')
  if (existsSync(program)) return { program }
  if (spawnSync('go', ['version'], { env }).status !== 0) {
    return { missing: 'Telegraf cannot be built, as Go is missing (https://go.dev/dl).' }
  }
  progress(`building Telegraf ${VERSION}, about five minutes, once`)
  const unfinished = `${folder}.${process.pid}`
  await mkdir(unfinished, { recursive: true })
  try {
    const problem = await goInstall({ ...env, CGO_ENABLED: '0', GOBIN: unfinished })
    if (problem) return { missing: `Telegraf cannot be built: Go reports "${problem}".` }
    await mkdir(folder, { recursive: true })
    await rename(join(unfinished, 'telegraf'), program)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return { program }
}

/** @param {NodeJS.ProcessEnv} env @returns {Promise<string|null>} the last line of what is wrong */
async function goInstall (env) {
  const go = spawn('go', ['install', '-trimpath', '-tags', TAGS, PACKAGE], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  go.stderr.on('data', text => { output = (output + text).slice(-4000) })
  const [code] = await once(go, 'close')
  return code === 0 ? null : output.trim().split('\n').at(-1) || `exit code ${code}`
}
