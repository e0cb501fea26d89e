/**
 * @typedef {import('../../doctor/finding.js').Found} Found
 * @typedef {import('../../doctor/report.js').Report} Report
 * @typedef {{checks?: {check: string, title: string}[], check?: string, findings?: Found[], report?: Report}} Line
 */

const GROUPS = /** @type {const} */ ([['problem', 'Problems'], ['warning', 'Warnings'], ['note', 'Notes'], ['ok', 'In order']])
const REQUEST = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id))
const buttons = ['check', 'bundle'].map(id => /** @type {HTMLButtonElement} */ (byId(id)))

/** Titles of the checks, by name. @type {Map<string, string>} */
const titles = new Map()

/** @param {Found[]} found */
function show (found) {
  byId('findings').replaceChildren(...GROUPS.flatMap(([level, title]) => {
    const its = found.filter(each => each.level === level)
    const cards = its.map(card)
    if (its.length === 0) return []
    if (level !== 'ok') return [element('h2', `${title} (${its.length})`), ...cards]
    const folded = document.createElement('details')
    folded.append(element('summary', `${title} (${its.length})`), ...cards)
    return [folded]
  }))
}

/** @param {Found} found */
function card ({ check, level, what, where, fix }) {
  const made = element('section', '', `card finding ${level}`)
  const heading = element('h3', titles.get(check) ?? check)
  if (where) heading.append(element('span', `, ${where}`))
  made.append(heading, element('p', what))
  if (fix) made.append(element('p', fix, 'fix'))
  return made
}

async function examine () {
  /** @type {Found[]} */
  const found = []
  const pending = new Set()
  await lines(await ask('findings'), line => {
    for (const { check: name, title } of line.checks ?? []) {
      titles.set(name, title)
      pending.add(name)
    }
    if (line.report) return showReport(line.report)
    found.push(...line.findings ?? [])
    pending.delete(line.check)
    show(found)
    byId('state').textContent = `Checking: ${[...pending].map(name => titles.get(name)).join(', ')} …`
  })
}

/** @param {Report} report */
function showReport ({ findings, counts, gateway, time, checks }) {
  for (const { check: name, title } of checks) titles.set(name, title)
  show(findings)
  byId('gateway').textContent = gateway.id ?? ''
  const wrong = GROUPS.slice(0, 2).map(([level, title]) => `${counts[level]} ${title.toLowerCase()}`).join(', ')
  const outcome = counts.problem + counts.warning > 0 ? wrong : 'Nothing is wrong'
  byId('state').textContent = `${outcome}; checked at ${new Date(time).toLocaleString()}.`
}

async function bundle () {
  byId('state').textContent = 'Checking, and collecting …'
  const blob = await (await ask('bundle')).blob()
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = `sluice-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.tar.gz`
  link.click()
  URL.revokeObjectURL(link.href)
  byId('state').textContent = 'The bundle is among your downloads. Look through it before you pass it on.'
}

/** @param {string} path */
async function ask (path) {
  const response = await fetch(path, REQUEST)
  if (response.ok) return response
  throw new Error((await response.text()).trim() || `The gateway answers ${response.status}.`)
}

/** As they arrive. @param {Response} response @param {(line: Line) => void} use */
async function lines (response, use) {
  const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body).pipeThrough(new TextDecoderStream()).getReader()
  for (let rest = ''; ;) {
    const { done, value } = await reader.read()
    if (done) return
    const whole = (rest + value).split('\n')
    rest = /** @type {string} */ (whole.pop())
    for (const line of whole) use(JSON.parse(line))
  }
}

/** @param {() => Promise<void>} work */
async function run (work) {
  for (const button of buttons) button.disabled = true
  try {
    await work()
  } catch (error) {
    byId('state').textContent = error instanceof Error ? error.message : String(error)
  } finally {
    for (const button of buttons) button.disabled = false
  }
}

/** @param {string} tag @param {string} text @param {string} [className] */
function element (tag, text, className = '') {
  const made = document.createElement(tag)
  made.textContent = text
  if (className) made.className = className
  return made
}

byId('check').addEventListener('click', () => run(examine))
byId('bundle').addEventListener('click', () => run(bundle))
const { report } = await (await fetch('findings')).json()
if (report) showReport(report)
else await run(examine)
