/** The bus that a node reads or sends to. */
export const busOption = {
  required: ['bus'],
  properties: {
    bus: { type: 'string', title: 'Bus', description: 'The CAN bus: shared by all nodes that name it.', 'x-node': 'sluice-can-bus' }
  }
}
