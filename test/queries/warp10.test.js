import { Warp10Database } from '../databases/warp10-database.js'
import { startFakeWarp10 } from '../servers/fake-warp10.js'
import { warp10ReaderTests } from './warp10-reader.js'

describe('Warp 10 reader, with a fake server', () => {
  warp10ReaderTests(Warp10Database.inSuite(() => startFakeWarp10()))
})
