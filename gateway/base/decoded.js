// Loaded by the live page as well as by Node: uses nothing specific to either.

/** Of a part of a URL; what is no encoding stands for itself. @param {string} text */
export function decoded (text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
