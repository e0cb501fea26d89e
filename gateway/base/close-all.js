/**
 * Closes several things one after the other, the later ones too when one fails.
 * @param {...(() => unknown)} closers
 * @returns {Promise<void>} rejects with the first failure, once all have been tried
 */
export async function closeAll (...closers) {
  const failures = []
  for (const close of closers) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
