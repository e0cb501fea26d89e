// An edge node in a process of its own, to be killed: edge-process.js URL FILE
import { openEdge } from '../../gateway/sparkplug/edge-link.js'

const [url, bdSeqFile] = process.argv.slice(2)
await openEdge({ broker: { url }, clientId: 'sluice-killed', groupId: 'plant', nodeId: 'killed', bdSeqFile, log: console })
