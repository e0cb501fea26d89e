import path from 'node:path'

/**
 * @typedef {any} RED  Node-RED's runtime, as it hands it to a node's module
 * @typedef {any} Node
 */

/** Where spools, dead letters and local databases live. @param {RED} RED */
export function dataDir (RED) {
  return path.join(RED.settings.userDir, 'sluice')
}
