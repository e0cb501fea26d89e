import { measure } from '../../stats/format.js'

/** @typedef {import('../../stats/host/host.js').HostReport} HostReport */

/** What is wrong, problems first. @param {HTMLElement} parent @param {import('../../stats/alarm.js').Alarm[]} alarms */
export function showAlarms (parent, alarms) {
  const shown = alarms.map(({ level, what, fix }) => element('p', `${what}. ${fix}`, `card ${level}`))
  if (shown.map(({ textContent }) => textContent).join('') === parent.textContent) return // else it would be read out again and again
  parent.replaceChildren(...shown)
}

/** The machine's health. @param {HTMLElement} parent @param {HostReport} host */
export function showMachine (parent, host) {
  const list = document.createElement('dl')
  for (const [name, text] of facts(host)) list.append(element('dt', name), element('dd', text))
  const group = element('div', '', 'gauge')
  group.append(list)
  parent.replaceChildren(group)
}

/** @param {HostReport} host @returns {[string, string][]} */
function facts ({ temperatureCelsius, disk, written, cards }) {
  return [
    ...temperatureCelsius === undefined ? [] : [pair('processor', `${temperatureCelsius.toFixed(0)} °C`)],
    ...disk ? [pair('disk, free', `${measure(disk.freeBytes, 'B')} of ${measure(disk.totalBytes, 'B')}`)] : [],
    ...disk?.totalInodes ? [pair('files, free', percent(disk.freeInodes ?? 0, disk.totalInodes))] : [],
    ...written ? [pair(`written to ${written.disk}`, `${measure(written.bytesPerDay, 'B')} a day`)] : [],
    ...cards.map(({ name, wornPercent }) => pair(`life of ${name}, used`, `${wornPercent} %`))
  ]
}

/** @param {string} name @param {string} text @returns {[string, string]} */
function pair (name, text) { return [name, text] }

/** @param {number} part @param {number} all */
function percent (part, all) { return `${(part / all * 100).toFixed(0)} %` }

/** @param {string} tag @param {string} text @param {string} [className] */
function element (tag, text, className = '') {
  const made = document.createElement(tag)
  made.textContent = text
  if (className) made.className = className
  return made
}
