import { phrase } from '../../stats/phrases.js'
import { doctorText, fillIn, language, loadDoctorTexts, loadTexts, text } from './text.js'

/**
 * @typedef {import('../../doctor/finding.js').Found} Found
 * @typedef {import('../../doctor/report.js').Report} Report
 * @typedef {{checks?: {check: string, title: string}[], check?: string, findings?: Found[], report?: Report}} Line
 */

const LEVELS = /** @type {const} */ (['problem', 'warning', 'note', 'ok'])
const REQUEST = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id))
const buttons = ['check', 'bundle'].map(id => /** @type {HTMLButtonElement} */ (byId(id)))

/** Titles of the checks, by name. @type {Map<string, string>} */
const titles = new Map()

/** @param {Found[]} found */
function show (found) {
  byId('findings').replaceChildren(...LEVELS.flatMap(level => {
    const its = found.filter(each => each.level === level)
    const cards = its.map(card)
    const heading = text(`doctor.level.${level}`, { count: its.length })
    if (its.length === 0) return []
    if (level !== 'ok') return [element('h2', heading), ...cards]
    const folded = document.createElement('details')
    folded.append(element('summary', heading), ...cards)
    return [folded]
  }))
}

/** @param {Found} found */
function card ({ check, level, phrases }) {
  const [what, where, fix] = [phrases.what, phrases.where, phrases.fix].map(doctorText)
  const made = element('section', '', `card finding ${level}`)
  const heading = element('h3', titleOf(check))
  if (where) heading.append(element('span', `, ${where}`))
  made.append(heading, element('p', what))
  if (fix) made.append(element('p', fix, 'fix'))
  return made
}

/** @param {string} check */
const titleOf = check => doctorText(phrase(titles.get(check) ?? check))

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
    byId('state').textContent = text('doctor.checking', { checks: [...pending].map(titleOf) })
  })
}

/** @param {Report} report */
function showReport ({ findings, counts, gateway, time, checks }) {
  for (const { check: name, title } of checks) titles.set(name, title)
  show(findings)
  byId('gateway').textContent = gateway.id ?? ''
  const wrong = [text('doctor.problems', { count: counts.problem }), text('doctor.warnings', { count: counts.warning })]
  const outcome = counts.problem + counts.warning > 0 ? wrong : text('doctor.fine')
  byId('state').textContent = text('doctor.checked', { outcome, time: new Date(time).toLocaleString(language) })
}

async function bundle () {
  byId('state').textContent = text('doctor.collecting')
  const blob = await (await ask('bundle')).blob()
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = `sluice-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.tar.gz`
  link.click()
  URL.revokeObjectURL(link.href)
  byId('state').textContent = text('doctor.bundled')
}

/** @param {string} path */
async function ask (path) {
  const response = await fetch(path, REQUEST)
  if (response.ok) return response
  throw new Error((await response.text()).trim() || text('doctor.answers', { status: String(response.status) }))
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

/** @param {string} tag @param {string} content @param {string} [className] */
function element (tag, content, className = '') {
  const made = document.createElement(tag)
  made.textContent = content
  if (className) made.className = className
  return made
}

await loadTexts()
await loadDoctorTexts()
fillIn('doctor.title')
byId('check').addEventListener('click', () => run(examine))
byId('bundle').addEventListener('click', () => run(bundle))
const { report } = await (await fetch('findings')).json()
if (report) showReport(report)
else await run(examine)
