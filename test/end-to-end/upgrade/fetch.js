// Brings the version before, to which the tests go back, into a shallow clone.
import { spawnSync } from 'node:child_process'
import { BACK_TO, hasCommit } from './check-out.js'

if (!hasCommit(BACK_TO)) {
  const { status } = spawnSync('git', ['fetch', '--quiet', '--depth=1', 'origin', BACK_TO], { stdio: 'inherit' })
  if (status !== 0) console.log('The version before could not be fetched; skipped without it: going back to it.')
}
