import { expect } from 'chai'
import { reasonIn } from '../../gateway/databases/hbase/answers.js'

describe('HBase connection', () => {
  it('says why a server refused: the last cause of Java\'s, and nothing of its program', () => {
    expect(reasonIn(`Unavailable
org.apache.hadoop.hbase.client.RetriesExhaustedException: Failed after attempts=6, exceptions:
2026-11-28T21:04:28.693Z, RpcRetryingCaller{pause=100, maxAttempts=6}, org.apache.hadoop.hbase.MasterNotRunningException: \
org.apache.hadoop.hbase.ipc.ServerNotRunningYetException: Server is not running yet
\tat org.apache.hadoop.hbase.master.HMaster.checkServiceStarted(HMaster.java:3280)
\tat org.apache.hadoop.hbase.ipc.RpcHandler.run(RpcHandler.java:85)
`)).to.equal('ServerNotRunningYetException: Server is not running yet')
    expect(reasonIn('Not found\r\n')).to.equal('Not found')
    expect(reasonIn('{\n"servlet":"jersey.ServletContainer-7b2",\n"message":"Request failed.",\n"status":"500"\n}')).to.equal('')
    expect(reasonIn('')).to.equal('')
  })
})
