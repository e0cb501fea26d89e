/** Topics of the staging and of the sinks' commit records: a star that was meant for all others would read its own words. */
const OWN = 'sluice_'

/** @param {string} name */
export const isOwnTopic = name => name.startsWith(OWN)

/** The topics to read. @param {string[]} names  with * for anything @returns {string[]|RegExp} */
export function topicsOf (names) {
  if (!names.some(name => name.includes('*'))) return names
  const patterns = names.map(name => {
    const pattern = name.split('*').map(text => text.replaceAll('.', '\\.')).join('.*')
    return name.includes('*') && !isOwnTopic(name) ? `(?!${OWN})${pattern}` : pattern
  })
  return new RegExp(`^(${patterns.join('|')})$`)
}
