/**
 * The floors of the house, from the ground up: code imports from its own floor and those below, never from one above (see CONTRIBUTING.md).
 * ESLint holds imports to it, `test/floors.test.js` the types that comments import.
 */
export const FLOORS = [
  'resources',
  'gateway/base',
  'gateway/web',
  'gateway/batch',
  'gateway/clock',
  'gateway/stats',
  'gateway/messages',
  'gateway/sources',
  'gateway/can',
  'gateway/modbus',
  'gateway/simulators',
  'gateway/databases',
  'gateway/queries',
  'gateway/dead-letters',
  'gateway/writer',
  'broker',
  'gateway/copy',
  'gateway/grafana',
  'gateway/sparkplug',
  'gateway/flow',
  'gateway/metrics',
  'gateway/doctor',
  'gateway/live',
  'gateway/run',
  'gateway/first-boot',
  'gateway/fleet',
  'gateway/update',
  'nodes',
  'gateway/bench',
  'gateway/cli',
  'tools',
  'test'
]
