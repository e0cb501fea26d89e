/** The studies, by the name that they have on the command line. @type {Record<string, () => Promise<import('./study.js').Study>>} */
export const STUDIES = {
  haenisch: async () => (await import('./haenisch/study.js')).haenisch,
  weissbach: async () => (await import('./weissbach/study.js')).weissbach
}

/** All of them, one after the other. */
export const ALL = 'studies'

/** @param {string} name */
export function isStudy (name) {
  return name === ALL || Object.hasOwn(STUDIES, name)
}
