import { installPinned } from '../pinned.js'

installPinned('node-red', 'Oldest version of Node-RED for the tests (117 MB)')
