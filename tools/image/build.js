import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { baseArchive } from './base.js'
import { writeDisk } from './disk.js'
import { makeTree } from './tree.js'

const RELEASES = 'dist'

/**
 * @param {{payload?: string, out: string}} options
 * @param {(line: string) => void} log
 */
export function buildImage ({ payload = newestRelease(), out }, log) {
  if (process.getuid?.() !== 0) throw new Error('The files of the card belong to root: run it as root.')
  const base = baseArchive(log)
  const startMs = Date.now()
  mkdirSync(dirname(resolve(out)), { recursive: true })
  const folder = mkdtempSync(join(dirname(resolve(out)), '.image-'))
  try {
    writeDisk(out, makeTree(folder, { base, payload }))
  } finally {
    rmSync(folder, { recursive: true })
  }
  const { size, blocks } = statSync(out)
  const mib = (/** @type {number} */ bytes) => Math.round(bytes / 2 ** 20)
  log(`${out}: ${mib(size)} MiB, ${mib(blocks * 512)} MiB of it used, written in ${Math.round((Date.now() - startMs) / 1000)} s.`)
}

/** For the card's processor. */
export function newestRelease () {
  const names = existsSync(RELEASES) ? readdirSync(RELEASES).filter(name => name.endsWith('-linux-arm64.tar.gz')) : []
  const [newest] = names.map(name => join(RELEASES, name)).sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  if (newest) return newest
  throw new Error('There is no release for arm64: make one with npm run release -- --arch arm64, or name one with --payload.')
}
