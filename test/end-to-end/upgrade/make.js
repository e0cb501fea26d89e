// Makes what `LEFT` has, by the code of that time: node test/end-to-end/upgrade/make.js
import { execFileSync } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkOut } from './check-out.js'
import { FROM, leave, LEFT } from './stages.js'

const folder = await mkdtemp(join(tmpdir(), 'sluice-left-'))
// What it needed and this version does not: Node finds it a folder above.
execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', 'hdr-histogram-js@^3.0.1'], { stdio: 'inherit' })
const command = checkOut(FROM, join(folder, 'code'))
await leave(folder, command)
await rm(LEFT, { recursive: true, force: true })
for (const path of ['flows.json', ...['gateway-id', 'required-sinks', 'rows.sqlite', 'spool'].map(name => join('user', 'sluice', name))]) {
  await cp(join(folder, path), join(LEFT, path), { recursive: true })
}
await rm(folder, { recursive: true })
