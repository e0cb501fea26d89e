import { run } from '../run.js'

/**
 * @typedef {{'bom-ref': string, name: string, externalReferences?: {type: string, url: string}[]}} Component
 * @typedef {object} Bom  CycloneDX
 * @property {string} [serialNumber]
 * @property {{timestamp?: string, tools?: unknown, component: Component}} metadata
 * @property {Component[]} components
 * @property {{ref: string, dependsOn?: string[]}[]} dependencies
 */

/** What a release consists of, package by package. @param {string} app @returns {string} */
export function bomOf (app) {
  const text = run('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev'], { cwd: app })
  return `${JSON.stringify(normalized(JSON.parse(text)), null, 2)}\n`
}

/** Without what differs from run to run: the time, a random number, who asked, and the order. @param {Bom} bom @returns {Bom} */
export function normalized (bom) {
  return {
    ...bom,
    serialNumber: undefined,
    metadata: { ...bom.metadata, timestamp: undefined, tools: undefined },
    components: bom.components.map(withoutFolder).sort(by(({ 'bom-ref': ref }) => ref)),
    dependencies: bom.dependencies
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: [...dependsOn].sort() }))
      .sort(by(({ ref }) => ref))
  }
}

/** The project itself came from a file of the folder where it was built. @param {Component} component */
function withoutFolder ({ externalReferences, ...component }) {
  const known = externalReferences?.filter(({ url }) => !url.startsWith('file:'))
  return known?.length ? { ...component, externalReferences: known } : component
}

/** By code units, as no locale changes it. @template T @param {(item: T) => string} key @returns {(a: T, b: T) => number} */
function by (key) {
  return (a, b) => key(a) < key(b) ? -1 : Number(key(a) > key(b))
}
