/**
 * The id of the config node that a node's batches are staged in.
 * @param {{via?: string, broker?: string, kafka?: string}} options  of a stage node, or its configuration as flows have it
 */
export function brokerIdOf ({ via, broker = '', kafka = '' }) {
  return via === 'kafka' ? kafka : broker
}
