import { isInstalled, run } from '../run.js'

/** What builds images from a Dockerfile, whichever is there. Buildah needs neither a daemon nor control groups. */
export const ENGINES = /** @type {const} */ (['docker', 'podman', 'buildah'])

/** @typedef {(typeof ENGINES)[number]} Engine */

/** The first that is there. @returns {Engine} */
export function findEngine () {
  const found = ENGINES.find(isInstalled)
  if (found) return found
  throw new Error(`Containers need one of ${ENGINES.join(', ')} (Debian: apt-get install buildah).`)
}

/**
 * Builds an image, with the same bytes from the same files as far as the engine can.
 * @param {Engine} engine
 * @param {object} image
 * @param {string} image.tag
 * @param {string} image.file  the Dockerfile
 * @param {string} image.context  a folder
 * @param {string} image.arch
 * @param {Record<string, string>} [image.args]
 * @param {number} image.seconds  since 1970: the time of the image
 */
export function buildImage (engine, { tag, file, context, arch, args = {}, seconds }) {
  const ofEngine = {
    docker: [],
    podman: [`--timestamp=${seconds}`, '--format=docker'],
    buildah: [`--timestamp=${seconds}`, '--format=docker', '--isolation=chroot'] // only that format has a health check
  }[engine]
  const given = Object.entries(args).map(([name, value]) => `--build-arg=${name}=${value}`)
  run(engine, ['build', ...ofEngine, `--platform=linux/${arch}`, ...given, '-t', tag, '-f', file, context],
    { env: { SOURCE_DATE_EPOCH: String(seconds) } })
}

/**
 * @typedef {object} Config  what an image says about how it is run
 * @property {string} User
 * @property {string[]} Env
 * @property {string[]} Entrypoint
 * @property {string[]} Cmd
 * @property {string} WorkingDir
 * @property {string} StopSignal
 * @property {Record<string, object>} Volumes
 * @property {{Test: string[]}} Healthcheck
 */

/** @param {Engine} engine @param {string} tag @returns {Config} */
export function configOf (engine, tag) {
  if (engine === 'buildah') return JSON.parse(run('buildah', ['inspect', '--type=image', tag])).Docker.config
  return JSON.parse(run(engine, ['image', 'inspect', '--format={{json .Config}}', tag]))
}

/**
 * Lays out the files of an image.
 * @param {Engine} engine
 * @param {string} tag
 * @param {string} folder  empty
 * @returns {{root: string, remove: () => void}} where they are
 */
export function layOut (engine, tag, folder) {
  if (engine === 'buildah') {
    const name = run('buildah', ['from', '--pull-never', tag]).trim()
    return { root: run('buildah', ['mount', name]).trim(), remove: () => run('buildah', ['rm', name]) }
  }
  const id = run(engine, ['create', tag]).trim()
  run(engine, ['export', `--output=${folder}.tar`, id])
  run('tar', ['-xpf', `${folder}.tar`, '-C', folder])
  return { root: folder, remove: () => run(engine, ['rm', id]) }
}

/** Writes an image into a file that all engines load. @param {Engine} engine @param {string} tag @param {string} file */
export function saveImage (engine, tag, file) {
  if (engine === 'buildah') run('buildah', ['push', tag, `docker-archive:${file}:${tag}`])
  else run(engine, ['save', `--output=${file}`, tag])
}
