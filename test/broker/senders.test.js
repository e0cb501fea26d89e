import { expect } from 'chai'
import { Senders } from '../../broker/out/senders.js'

describe('senders of messages', () => {
  const AGE_MS = 100

  /** @param {Senders} senders @param {number} count @param {number} nowMs */
  const send = (senders, count, nowMs) => { for (let i = 0; i < count; i++) senders.begin(nowMs) }

  /** @param {Senders} senders */
  const finish = senders => { while (senders.waiting > 0) senders.end() }

  it('that wait for many to be done are known after one longer pause, then 5 ms are enough', () => {
    const senders = new Senders(AGE_MS)
    send(senders, 20, 0)
    expect(senders.pauseLeftMs(10)).to.equal(40)
    expect(senders.pauseLeftMs(50)).to.equal(0)
    finish(senders)
    send(senders, 20, 60)
    expect(senders.pauseLeftMs(60)).to.equal(5)
    expect(senders.pauseLeftMs(65)).to.equal(0)
  })

  it('that send at times of their own are held up by no pause', () => {
    const senders = new Senders(AGE_MS)
    send(senders, 20, 0)
    send(senders, 20, 10)
    expect(senders.pauseLeftMs(30)).to.equal(Infinity)
    for (let nowMs = 20; nowMs < 2000; nowMs += 10) {
      if (nowMs % 100 === 0) finish(senders)
      send(senders, 20, nowMs)
      expect(senders.pauseLeftMs(nowMs + 9), `after ${nowMs} ms`).to.equal(Infinity)
    }
  })

  it('are looked at again after a while, whatever they were', () => {
    const senders = new Senders(AGE_MS)
    send(senders, 20, 0)
    expect(senders.pauseLeftMs(50)).to.equal(0)
    finish(senders)
    send(senders, 20, 10_050)
    expect(senders.pauseLeftMs(10_055), 'waited').to.equal(45)
    send(senders, 20, 10_060)
    expect(senders.pauseLeftMs(11_059), 'did not').to.equal(Infinity)
    expect(senders.pauseLeftMs(11_060)).to.equal(0)
  })

  it('that go on once some are done, late, are not taken for such as do not wait', () => {
    const senders = new Senders(AGE_MS)
    send(senders, 20, 0)
    for (let i = 0; i < 10; i++) senders.end()
    send(senders, 10, 30)
    expect(senders.pauseLeftMs(80)).to.equal(0)
  })

  it('may have few on the way: these wait for their age', () => {
    const senders = new Senders(AGE_MS)
    send(senders, 7, 0)
    expect(senders.pauseLeftMs(90)).to.equal(Infinity)
  })

  it('are not waited for longer than half of a short age', () => {
    const senders = new Senders(20)
    send(senders, 20, 0)
    expect(senders.pauseLeftMs(10)).to.equal(0)
  })
})
