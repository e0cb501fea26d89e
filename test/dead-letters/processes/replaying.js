import { isTransient, open } from '../../../gateway/databases/sqlite/sink.js'
import { DeadLetterDesk } from '../../../gateway/dead-letters/desk.js'
import { openDeadLetterQueue } from '../../../gateway/dead-letters/queue.js'
import { createWriter } from '../../../gateway/writer/writer.js'

// Replays all dead letters of a folder into a SQLite file, and kills itself at one of its hand-overs: before it, at a time in it, or after.
const [folder, file, fatal, when] = process.argv.slice(2)

const kill = () => process.kill(process.pid, 'SIGKILL')
const queue = await openDeadLetterQueue(folder)
const sink = await open({ file })
const writer = createWriter({ sink, isTransient, deadLetters: queue, options: { maxAgeMs: 1 } })
let handOvers = 0
const desk = new DeadLetterDesk(() => [['sqlite', queue]], async batch => {
  const isFatal = handOvers++ === Number(fatal)
  if (isFatal && when === 'before') kill()
  if (isFatal && when !== 'after') setTimeout(kill, Number(when))
  await writer.write(batch)
  if (isFatal && when === 'after') kill()
})
await desk.replay()
await writer.close()
await sink.close()
