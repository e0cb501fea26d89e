/**
 * The sinks there are, by type. A sink's driver is loaded when it is first opened.
 * @type {Record<string, () => Promise<import('./sink.js').SinkModule>>}
 */
export const sinkTypes = {
  sqlite: () => import('./sqlite/index.js'),
  postgresql: () => import('./postgresql/index.js')
}
