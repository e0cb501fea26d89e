import { drawn } from './dom.js'

const [WIDTH, HEIGHT] = [90, 22]

/** A small curve of the last minute, without figures: they stand beside it. */
export class Spark {
  #line = drawn('polyline', { points: '' })
  node = drawn('svg', { class: 'spark', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-hidden': 'true' }, this.#line)

  /** @param {(number|null)[]} values @param {number} count  of those that there is room for */
  show (values, count) {
    const most = Math.max(...values.map(value => value ?? 0), 0)
    const first = count - values.length
    const points = values.flatMap((value, i) => {
      if (value === null) return []
      const x = (first + i) / (count - 1) * WIDTH
      const y = HEIGHT - 2 - (most > 0 ? value / most * (HEIGHT - 4) : 0)
      return [`${x.toFixed(1)},${y.toFixed(1)}`]
    })
    this.#line.setAttribute('points', points.join(' '))
  }
}
