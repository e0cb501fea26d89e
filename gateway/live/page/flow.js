import { quantity } from '../../stats/format.js'
import { drawn, element } from './dom.js'
import { below, beside } from './flow-drawing.js'
import { stageLevel, worst } from './levels.js'
import { sinkHref } from './sinks.js'
import { prefixOf, rateText, sourceHref } from './sources.js'
import { text } from './text.js'

/**
 * What flows where: sources, staging and sinks, with the rates on the wires between them, which are red where it stops. The same in words
 * for those who do not see it.
 *
 * @typedef {import('./plant.js').Plant} Plant
 * @typedef {import('./levels.js').Level} Level
 * @typedef {import('./flow-drawing.js').Box} Box
 */

/** More sources are drawn by their prefixes, and more of those as the rest. */
const MAX_BOXES = 7
/** Narrower, the columns stand below each other. */
const NARROW_PX = 720

export class FlowPicture {
  #svg = drawn('svg', { 'aria-hidden': 'true' })
  #words = element('ul', { class: 'hidden-text' })
  #drawn = ''
  node = element('section', { class: 'card flow' }, element('h2', {}, text('flow.title')), this.#svg, this.#words)

  /** @param {Plant} plant */
  draw (plant) {
    const width = Math.max(280, this.#svg.clientWidth)
    const columns = columnsOf(plant)
    const now = JSON.stringify([columns, width])
    this.node.hidden = plant.sources.length + plant.sinks.length === 0
    if (now === this.#drawn) return
    this.#drawn = now
    const { height, parts } = width < NARROW_PX ? below(columns, width) : beside(columns, width)
    this.#svg.setAttribute('viewBox', `0 0 ${width} ${height}`)
    this.#svg.replaceChildren(...parts)
    this.#words.replaceChildren(...columns.flat().map(({ title, lines, level, wire }) => {
      return element('li', {}, [title, ...lines, wire.words, text(`state.${level}`)].filter(Boolean).join(', '))
    }))
  }
}

/** @param {Plant} plant @returns {Box[][]} from left to right */
function columnsOf (plant) {
  const { stages, sinks } = plant
  const outs = stages.filter(({ kind }) => kind !== 'in')
  const ins = stages.filter(({ kind }) => kind === 'in')
  return [
    sourceBoxes(plant),
    ...outs.length > 0 ? [[stageBox(text('flow.spools'), outs, plant.stagedRate, plant.stagedRate > 0)]] : [],
    ...ins.length > 0 ? [[stageBox(text('flow.stageIns'), ins, null, plant.storedRate > 0)]] : [],
    sinks.slice(0, 2 * MAX_BOXES).map(sink => sinkBox(sink, ins.length > 0))
  ]
}

/** @param {import('./plant.js').SinkRow} sink @param {boolean} hasStageIn @returns {Box} */
function sinkBox (sink, hasStageIn) {
  const { name, level, waiting, rate, balance } = sink
  const isDirect = hasStageIn && balance !== null && !balance.isStaged && balance.produced > 0
  const lines = [
    ...waiting > 0 ? [text('flow.waiting', { rows: quantity(waiting), count: waiting })] : [],
    ...isDirect ? [text('flow.direct')] : []
  ]
  const wire = level === 'problem'
    ? { level, words: text('detail.stopped') }
    : { level: flowing((rate ?? 0) > 0), words: rateText(rate) }
  return { title: name, lines, level, href: sinkHref(sink), wire, isDirect }
}

/** @param {boolean} isFlowing @returns {Level} */
function flowing (isFlowing) { return isFlowing ? 'good' : 'idle' }

/** @param {Plant} plant @returns {Box[]} */
function sourceBoxes ({ sources }) {
  const groups = sources.length <= MAX_BOXES
    ? sources.map(source => ({ title: source.name, its: [source], href: sourceHref(source) }))
    : [...Map.groupBy(sources, source => source.gateway || prefixOf(source))].map(([title, its]) => ({ title, its, href: undefined }))
  const alone = groups.length > MAX_BOXES ? groups.slice(0, MAX_BOXES - 1) : groups
  const rest = groups.slice(alone.length).flatMap(({ its }) => its)
  const all = rest.length > 0 ? [...alone, { title: text('flow.others'), its: rest, href: undefined }] : alone
  return all.map(({ title, its, href }) => {
    const rate = its.reduce((sum, each) => sum + (each.rate ?? 0), 0)
    const level = worst(its.map(each => each.level))
    const lines = its.length > 1 ? [text('count.sources', { count: its.length })] : []
    const wire = { level: rate === 0 && level === 'problem' ? level : flowing(rate > 0), words: rateText(rate) }
    return { title, lines, level, href, wire }
  })
}

/**
 * @param {string} title
 * @param {import('./plant.js').StageRow[]} stages
 * @param {number|null} rate
 * @param {boolean} isFlowing
 * @returns {Box}
 */
function stageBox (title, stages, rate, isFlowing) {
  const away = stages.filter(({ isConnected, blocked }) => !isConnected || blocked !== '')
  const lines = stages.slice(0, MAX_BOXES).map(({ name, bytes, maxBytes }) => {
    return bytes !== null && maxBytes ? text('flow.spool', { name, percent: Math.round(bytes / maxBytes * 100) }) : name
  })
  const level = worst(stages.map(stageLevel))
  const wire = { level: level === 'problem' ? level : flowing(isFlowing), words: rate === null ? '' : rateText(rate) }
  return { title, lines: [...lines, ...away.map(({ name }) => text('flow.away', { name }))], level, wire }
}
