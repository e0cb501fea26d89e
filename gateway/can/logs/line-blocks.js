const MAX_LINE_CHARACTERS = 1 << 16

/**
 * The lines of a text stream, block by block as they arrive: a large file is never in memory as a whole, and a caller pays for one
 * await a block. A line longer than 64 Ki characters (not a text file then) is cut there.
 * @param {AsyncIterable<Uint8Array|string>} stream
 * @returns {AsyncGenerator<string[], void>}
 */
export async function * lineBlocks (stream) {
  const decoder = new TextDecoder('utf-8')
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n')
    rest = /** @type {string} */ (lines.pop())
    for (; rest.length > MAX_LINE_CHARACTERS; rest = rest.slice(MAX_LINE_CHARACTERS)) lines.push(rest.slice(0, MAX_LINE_CHARACTERS))
    if (lines.length > 0) yield lines
  }
  rest += decoder.decode()
  if (rest !== '') yield [rest]
}
