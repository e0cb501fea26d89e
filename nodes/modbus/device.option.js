/** The device that a node reads or writes. */
export const deviceOption = {
  required: ['device'],
  properties: {
    device: {
      type: 'string',
      title: 'Device',
      description: 'The Modbus device with its connection and limits, shared by all nodes that name it.',
      'x-node': 'sluice-modbus-device'
    }
  }
}
