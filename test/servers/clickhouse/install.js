import { installPinned } from '../pinned.js'

installPinned('clickhouse', 'The modern ClickHouse of the tests (170 MB from npm)')
