import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import { openBrowser } from '../browser/browser.js'
import { servePlant } from './plant-server.js'

/**
 * What the live page costs a gateway of 200 sources that are staged and stored in 10 sinks, looked at by three browsers:
 * `node test/live/cost.js`. The gateway is a process of its own, whose sources send once a second.
 */
const SOURCES = 200
const SINKS = 10
const VIEWERS = 3
const SECONDS = 30
const OPENINGS = 5
/** Of the processor time in `/proc`. */
const TICKS = 100

if (process.send) await serve()
else await measure()

async function serve () {
  const plant = await servePlant({ sources: SOURCES, sinks: SINKS })
  setInterval(() => plant.beat(), 1000)
  process.send?.(plant.url)
}

async function measure () {
  const gateway = fork(import.meta.filename)
  const [url] = await once(gateway, 'message')
  const cpu = () => {
    const fields = readFileSync(`/proc/${gateway.pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS
  }
  const share = async () => {
    const before = cpu()
    await sleep(SECONDS * 1000)
    return (cpu() - before) / SECONDS * 100
  }
  await sleep(5000)
  const alone = await share()
  const browser = await openBrowser()
  const context = browser.page.context()
  const opened = []
  for (let i = 0; i < OPENINGS; i++) {
    const page = await context.newPage()
    const startedMs = performance.now()
    await page.goto(url)
    await page.waitForSelector('#sources tbody tr >> nth=49')
    opened.push(performance.now() - startedMs)
    await page.close()
  }
  for (let i = 0; i < VIEWERS; i++) await (await context.newPage()).goto(url)
  await sleep(5000)
  const watched = await share()
  const { perSecond, first } = await payload(url)
  await browser.close()
  gateway.kill()
  console.log(`${SOURCES} sources, ${SINKS} sinks, ${VIEWERS} browsers`)
  console.log(`processor time: ${alone.toFixed(2)} % of a core without, ${watched.toFixed(2)} % with, so ${(watched - alone).toFixed(2)} %`)
  console.log(`payload to each: ${(first / 1000).toFixed(1)} kB at first, then ${(perSecond / 1000).toFixed(1)} kB a second`)
  console.log(`time to open, to 50 rows: ${opened.map(ms => `${ms.toFixed(0)} ms`).join(', ')}`)
}

/** @param {string} url */
async function payload (url) {
  const { ticket } = await (await fetch(`${url}session`)).json()
  const socket = new WebSocket(`${url.replace('http', 'ws')}stream?view=page&ticket=${ticket}`)
  const [begin] = await once(socket, 'message')
  let bytes = 0
  socket.on('message', data => { bytes += String(data).length })
  await sleep(SECONDS * 1000)
  socket.close()
  return { first: String(begin).length, perSecond: bytes / SECONDS }
}
