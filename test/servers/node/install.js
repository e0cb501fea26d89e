import { installPinned } from '../pinned.js'

installPinned('node', 'Older versions of Node for the tests (80 MB from npm)')
