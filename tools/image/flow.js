/** The interface, and what a test sends there: the message Drive of the DBC that the gateway ships. */
export const INTERFACE = 'vcan0'
export const FRAME_ID = '100'
export const DATABASE = '/var/lib/sluice/sluice/can.sqlite'

const nodes = [
  { id: 'tab', type: 'tab', label: 'CAN' },
  { id: 'bus', type: 'sluice-can-bus', name: INTERFACE, kind: 'socketcan', interface: INTERFACE },
  { id: 'broker', type: 'sluice-broker', name: 'Mosquitto', url: 'mqtt://127.0.0.1:1883' },
  {
    id: 'signals', type: 'sluice-can-read', z: 'tab', name: 'car', bus: 'bus', mode: 'signals', dbcFile: 'data/vehicle.dbc',
    filter: FRAME_ID, x: 140, y: 80, wires: [['out']]
  },
  { id: 'frames', type: 'sluice-can-read', z: 'tab', name: 'frames', bus: 'bus', mode: 'frames', x: 140, y: 140, wires: [['out']] },
  { id: 'out', type: 'sluice-stage-out', z: 'tab', name: '', broker: 'broker', x: 360, y: 80, wires: [] },
  { id: 'in', type: 'sluice-stage-in', z: 'tab', name: '', broker: 'broker', x: 140, y: 220, wires: [['sink']] },
  { id: 'sink', type: 'sluice-sqlite', z: 'tab', name: 'can', file: 'can.sqlite', table: '{source}', x: 360, y: 220, wires: [] }
]

/** CAN frames as signals and as they are, over the machine's Mosquitto, to SQLite. */
export const FLOW = JSON.stringify(nodes, null, 2)

/**
 * What the first start makes of it. The address is the one under which QEMU's network has this machine.
 * @param {boolean} isRootReadOnly
 */
export function settings (isRootReadOnly) {
  return `[system]
ntp_servers = ["10.0.2.2"]
read_only_root = ${isRootReadOnly}

[[can]]
name = "${INTERFACE}"
virtual = true

[flow]
file = "flow.json"
`
}
