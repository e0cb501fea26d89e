/**
 * Whether fields of a name are taken: those that one of `include` matches, all where it is empty, without those of `exclude`. `*` is any
 * text, `?` one character.
 * @param {string[]} include @param {string[]} exclude
 * @returns {(name: string) => boolean}
 */
export function nameFilter (include, exclude) {
  const wanted = include.map(expressionOf)
  const unwanted = exclude.map(expressionOf)
  return name => (wanted.length === 0 || wanted.some(glob => glob.test(name))) && !unwanted.some(glob => glob.test(name))
}

/** @param {string} glob */
function expressionOf (glob) {
  const source = glob.replace(/[\\^$.|+()[\]{}]/g, '\\$&').replace(/\*+/g, '.*').replaceAll('?', '.')
  return new RegExp(`^${source}$`, 'su')
}
