import { startFakeWarp10 } from '../servers/fake-warp10.js'
import { Warp10Database } from './warp10-database.js'
import { warp10SinkTests } from './warp10-sink.js'

describe('Warp 10 sink, with a fake server', () => {
  warp10SinkTests(Warp10Database.inSuite(() => startFakeWarp10()))
})
