import { broker } from './broker.js'
import { can } from './can.js'
import { clock } from './clock.js'
import { databaseFiles } from './database-files.js'
import { databases } from './databases.js'
import { deadLetters } from './dead-letters.js'
import { disk } from './disk.js'
import { flow } from './flow.js'
import { machine } from './machine.js'
import { memory } from './memory.js'
import { modes } from './modes.js'
import { ports } from './ports.js'
import { serial } from './serial.js'
import { spools } from './spools.js'
import { versions } from './versions.js'

/** All there are, in the order in which they are shown. @type {import('../finding.js').Check[]} */
export const CHECKS = [
  versions, flow, broker, databases, databaseFiles, spools, deadLetters, disk, machine, memory, clock, modes, ports, serial, can
]
