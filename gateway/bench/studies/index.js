/** The studies, by the name that they have on the command line. @type {Record<string, () => Promise<import('./study.js').Study>>} */
export const STUDIES = {
  arnst: async () => (await import('./arnst/study.js')).arnst,
  haenisch: async () => (await import('./haenisch/study.js')).haenisch,
  scits: async () => (await import('./scits/study.js')).scits
}

/** All of them, one after the other. */
export const ALL = 'studies'

/** @param {string} name */
export function isStudy (name) {
  return name === ALL || Object.hasOwn(STUDIES, name)
}
