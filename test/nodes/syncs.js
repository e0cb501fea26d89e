import { open } from 'node:fs/promises'

/** Has the disk fail whenever a file is forced to it. @returns {Promise<() => void>} ends that */
export function failSyncs () {
  return patchSyncs(async () => { throw Object.assign(new Error('i/o error'), { code: 'EIO' }) })
}

/**
 * Has something else happen when a file is forced to the disk.
 * @param {(sync: () => Promise<void>) => Promise<void>} instead
 * @returns {Promise<() => void>} ends that
 */
export async function patchSyncs (instead) {
  const file = await open(import.meta.filename)
  const prototype = Object.getPrototypeOf(file)
  await file.close()
  const { datasync } = prototype
  prototype.datasync = function () { return instead(() => Reflect.apply(datasync, this, [])) }
  return () => { prototype.datasync = datasync }
}
