/**
 * What a server tells of its settings, as a line of a report. A server that does not tell has none: it is measured all the same.
 * @param {() => Promise<[name: string, value: unknown][]>} read
 * @returns {Promise<string|undefined>}
 */
export async function settingsOf (read) {
  const settings = await read().catch(() => [])
  return settings.map(([name, value]) => `${name} ${value}`).join(', ') || undefined
}
