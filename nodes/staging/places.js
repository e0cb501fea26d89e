import { SourcePlaces } from '../../gateway/messages/source-places.js'

/** The places of the sources of a stage node. @param {import('../../broker/out/stage.js').Stage} stage @param {number} max */
export function placesOf ({ spools }, max) {
  return new SourcePlaces({ max, sources: spools.keys(), isEmpty: source => (spools.get(source)?.unstoredBytes ?? 0) === 0 })
}
