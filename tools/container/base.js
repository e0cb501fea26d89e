import { existsSync, linkSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isInstalled, run } from '../run.js'
import { buildImage } from './engine.js'

/**
 * Makes an image of a Debian in a file, which is made first where it is missing: no registry is needed.
 * @param {import('./engine.js').Engine} engine
 * @param {string} file  a tar of its root folder
 * @param {string} arch
 * @param {number} seconds  since 1970
 * @returns {string} its tag
 */
export function importBase (engine, file, arch, seconds) {
  if (!existsSync(file)) makeBase(file, arch, seconds)
  const tag = `localhost/sluice-base:${arch}`
  const context = mkdtempSync(join(dirname(resolve(file)), 'base-'))
  try {
    linkSync(file, join(context, 'root.tar'))
    writeFileSync(join(context, 'Dockerfile'), 'FROM scratch\nADD root.tar /\n')
    buildImage(engine, { tag, file: join(context, 'Dockerfile'), context, arch, seconds })
    return tag
  } finally {
    rmSync(context, { recursive: true })
  }
}

/** @param {string} file @param {string} arch @param {number} seconds */
function makeBase (file, arch, seconds) {
  if (!isInstalled('mmdebstrap')) {
    throw new Error(`${file} does not exist; making it needs mmdebstrap (Debian: apt-get install mmdebstrap).`)
  }
  console.error(`Making ${file}: half a minute, or some for another architecture.`)
  const env = { SOURCE_DATE_EPOCH: String(seconds) }
  run('mmdebstrap', ['--variant=minbase', `--architectures=${arch}`, 'trixie', file], { env })
}
