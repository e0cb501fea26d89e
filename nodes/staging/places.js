import { SourcePlaces } from '../../gateway/messages/source-places.js'

/** The places of the sources of a stage node. @param {import('../../broker/out/stage.js').Stage} stage @param {number} max */
export function placesOf ({ spool }, max) {
  return new SourcePlaces({ max, sources: spool.head.sources.map(({ source }) => source), isEmpty: source => spool.isEmpty(source) })
}
