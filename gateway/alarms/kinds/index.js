import { machineKinds } from './machine.js'
import { sinkKinds } from './sinks.js'
import { sourceKinds } from './sources.js'
import { stagingKinds } from './staging.js'

/** Every kind of alarm there is. @type {Record<string, import('../kind.js').Kind>} */
export const KINDS = { ...sinkKinds, ...sourceKinds, ...stagingKinds, ...machineKinds }
