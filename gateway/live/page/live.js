import { AlarmList } from './alarm-list.js'
import { byId, say } from './dom.js'
import { showPage } from './pages.js'
import { Plant } from './plant.js'
import { watch } from './stream.js'
import { fillIn, loadTexts, text } from './text.js'
import { verdictOn } from './verdict.js'

/** What is shown, and is drawn anew with each report. */
const plant = new Plant()
/** @type {number|null} */
let goneSinceMs = null
let lastWordMs = Date.now()
let isDrawing = false

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
  if (byId('announced').dataset.topic !== verdict.topic) {
    byId('announced').dataset.topic = verdict.topic
    say(byId('announced'), verdict.sentence)
  }
  document.title = text(verdict.level === 'problem' ? 'title.problem' : verdict.level === 'warning' ? 'title.warning' : 'title')
  document.body.classList.toggle('gone', goneSinceMs !== null)
  byId('old').hidden = goneSinceMs === null
  alarms.show(pages.editor)
  pages.draw()
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
