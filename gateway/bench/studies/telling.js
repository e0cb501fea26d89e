import { remaining } from '../../stats/format.js'

/**
 * @typedef {import('./command.js').StudyEvent} StudyEvent
 * @typedef {{stdout: NodeJS.WritableStream, stderr: NodeJS.WritableStream}} Streams
 */

/** To programs: an event a line. @param {Streams} streams @returns {(event: StudyEvent) => void} */
export function tellPrograms ({ stdout }) {
  stdout.on('error', () => {}) // whoever asked has gone: what is measured is still put in order
  return event => { stdout.write(`${JSON.stringify(event)}\n`) }
}

/** To people: what goes on, and the pages that are there in the end, which may be piped to a browser. @param {Streams} streams */
export function tellPeople ({ stdout, stderr }) {
  return (/** @type {StudyEvent} */ event) => {
    if ('page' in event) stdout.write(`${event.page}\n`)
    const line = lineOf(event)
    if (line) stderr.write(`${line}\n`)
  }
}

/** @param {StudyEvent} event */
function lineOf (event) {
  switch (event.event) {
    case 'study': return `${event.title}: ${event.folder}`
    case 'progress': {
      const { cell, cells, secondsLeft, label, text } = event
      return `${cell} of ${cells}, about ${remaining(secondsLeft)} left: ${label}${text ? `: ${text}` : ''}`
    }
    case 'missing': return `Not measured: ${event.labels.join('; ')}: ${event.reason}`
    case 'problem': return event.text
    case 'report': return event.isComplete ? '' : `Stopped; sluice bench ${event.study} --resume ${event.folder} goes on.`
    default: return ''
  }
}
