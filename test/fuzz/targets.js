import { busTargets } from './bus-targets.js'
import { controlTargets } from './control-targets.js'
import { fileTargets } from './file-targets.js'
import { messageTargets } from './message-targets.js'
import { topicTargets } from './topic-targets.js'

/** Everything that reads what others send. Whoever adds a parser adds its target here. @type {import('./run.js').Target[]} */
export const targets = [...messageTargets, ...busTargets, ...fileTargets, ...topicTargets, ...controlTargets]
