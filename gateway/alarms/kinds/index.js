import { phrase } from '../../stats/phrases.js'
import { machineKinds } from './machine.js'
import { sinkKinds } from './sinks.js'
import { sourceKinds } from './sources.js'
import { stagingKinds } from './staging.js'

/** @typedef {import('../kind.js').Kind} Kind */

const ALL = Object.entries({ ...sinkKinds, ...sourceKinds, ...stagingKinds, ...machineKinds })

/** Every kind of alarm there is; what is of the machine is never several. @type {Record<string, Kind>} */
export const KINDS = Object.fromEntries(ALL.map(([kind, its]) => {
  return [kind, { ...its, several: count => phrase(`${kind}.several`, { count }) }]
}))
