import { AlarmList } from './alarm-list.js'
import { byId, say } from './dom.js'
import { showPage } from './pages.js'
import { Plant } from './plant.js'
import { watch } from './stream.js'
import { fillIn, loadTexts, text } from './text.js'
import { verdictOn } from './verdict.js'

/** Longer than any screen reader takes to notice. */
const ANNOUNCED_MS = 5000

/** What is shown, and is drawn anew with each report. */
const plant = new Plant()
/** @type {number|null} */
let goneSinceMs = null
let lastWordMs = Date.now()
let isDrawing = false
let announcedTopic = ''
/** @type {ReturnType<typeof setTimeout>|undefined} */
let clearing

await loadTexts()
fillIn()
const alarms = new AlarmList(plant)
const pages = showPage(plant)

function draw () {
  isDrawing = false
  const verdict = verdictOn(plant, goneSinceMs)
  const box = byId('verdict')
  box.className = verdict.level
  say(/** @type {Element} */ (box.querySelector('p')), verdict.sentence)
  box.querySelector('.dot')?.setAttribute('class', `dot ${verdict.level}`)
  if (verdict.topic !== announcedTopic) announce(verdict)
  document.title = text(verdict.level === 'problem' ? 'title.problem' : verdict.level === 'warning' ? 'title.warning' : 'title')
  document.body.classList.toggle('gone', goneSinceMs !== null)
  byId('old').hidden = goneSinceMs === null
  alarms.show(pages.editor)
  pages.draw()
}

/** To a screen reader; then the region is empty again, as its figures soon are old: the sentence on top has those of now. */
function announce (/** @type {import('./verdict.js').Verdict} */ { topic, sentence }) {
  announcedTopic = topic
  say(byId('announced'), sentence)
  clearTimeout(clearing)
  clearing = setTimeout(() => say(byId('announced'), ''), ANNOUNCED_MS)
}

function drawSoon () {
  if (!isDrawing) requestAnimationFrame(draw)
  isDrawing = true
}

addEventListener('hashchange', drawSoon)
addEventListener('scroll', drawSoon, { passive: true })
document.addEventListener('visibilitychange', drawSoon)
drawSoon()

watch({
  onOpen ({ gateway, version, editor }) {
    byId('gateway').textContent = `${gateway} · ${version}`
    if (editor !== null) {
      const link = /** @type {HTMLAnchorElement} */ (byId('editor'))
      link.href = pages.editor = editor
      link.hidden = false
    }
    drawSoon()
  },
  onTick (tick) {
    goneSinceMs = null
    lastWordMs = Date.now()
    plant.take(tick)
    drawSoon()
  },
  onGone () {
    goneSinceMs = lastWordMs
    drawSoon()
  }
})
