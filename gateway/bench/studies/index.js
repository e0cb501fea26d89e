/** The studies, by the name that they have on the command line. @type {Record<string, () => Promise<import('./study.js').Study>>} */
export const STUDIES = {
  arnst: async () => (await import('./arnst/study.js')).arnst,
  scits: async () => (await import('./scits/study.js')).scits,
  weissbach: async () => (await import('./weissbach/study.js')).weissbach,
  warp10: async () => (await import('./warp10/study.js')).warp10,
  haenisch: async () => (await import('./haenisch/study.js')).haenisch,
  capacity: async () => (await import('./capacity/study.js')).capacity
}

/** All of papers, one after the other. */
export const ALL = 'studies'
/** Is of none: see how much this machine takes. */
const CAPACITY = 'capacity'

export const PAPERS = Object.keys(STUDIES).filter(name => name !== CAPACITY)

/** @param {string} name */
export function isStudy (name) {
  return name === ALL || Object.hasOwn(STUDIES, name)
}
