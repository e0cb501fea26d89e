import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const folder = fileURLToPath(new URL('.', import.meta.url))
const root = join(folder, '../..')

describe('The mutants (npm run mutants)', () => {
  it('can each be made of the code as it is', async () => {
    for (const name of await readdir(folder)) {
      if (name.endsWith('.patch')) await promisify(execFile)('git', ['apply', '--check', join(folder, name)], { cwd: root })
    }
  })
})
