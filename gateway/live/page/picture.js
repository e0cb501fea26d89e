import { styled } from './colours.js'
import { element } from './dom.js'
import { clock } from './times.js'

const [MARGIN, LINE] = [16, 20]

/**
 * All charts below each other, as a PNG file.
 * @param {import('./plot.js').Plot[]} plots
 * @param {import('./past.js').Span} span
 */
export async function savePicture (plots, { fromMs, toMs }) {
  const drawings = plots.flatMap(plot => plot.canvas ? [{ plot, canvas: plot.canvas }] : [])
  const scale = devicePixelRatio
  const width = Math.max(...drawings.map(({ canvas }) => canvas.width)) + 2 * MARGIN * scale
  const height = drawings.reduce((sum, { canvas }) => sum + canvas.height + 2.5 * LINE * scale, 3 * MARGIN * scale)
  const picture = element('canvas', { width: String(width), height: String(height) })
  const context = /** @type {CanvasRenderingContext2D} */ (picture.getContext('2d'))
  context.fillStyle = styled('--card')
  context.fillRect(0, 0, width, height)
  let y = MARGIN * scale
  const write = (/** @type {string} */ words, /** @type {string} */ colour, x = MARGIN * scale, weight = 400) => {
    context.fillStyle = colour
    context.font = `${weight} ${13 * scale}px system-ui, sans-serif`
    context.fillText(words, x, y)
    return x + context.measureText(words).width + 14 * scale
  }
  y += MARGIN * scale
  write(`Sluice · ${clock(fromMs, 0)} – ${clock(toMs, 0)}`, styled('--dim'))
  for (const { plot, canvas } of drawings) {
    y += 1.5 * LINE * scale
    let x = write(plot.title, styled('--text'), undefined, 600)
    for (const { label, colour } of plot.labels) x = write(label, colour, x)
    context.drawImage(canvas, MARGIN * scale, y + 6 * scale)
    y += canvas.height + LINE * scale
  }
  const blob = await new Promise(resolve => picture.toBlob(resolve))
  const url = URL.createObjectURL(blob)
  element('a', { href: url, download: 'sluice.png' }).click()
  URL.revokeObjectURL(url)
}
