import { commaComplaint } from './numerals.js'
import { grouped, say } from './sentences.js'

const MAX_PORT = 65_535

/**
 * What is wrong with the ports in an address.
 * @param {string} title  of the option
 * @param {string} url  that has one host or several: "mongodb://a:27017,b:27018/"
 */
export function portProblem (title, url) {
  const hosts = url.replace(/^[^/]*\/\/([^/?]*@)?/, '').split(/[/?]/)[0].split(',')
  const [port] = hosts.flatMap(host => /:([^:\]]*)$/.exec(host)?.[1] ?? []).filter(text => !isPort(text))
  if (port === undefined) return
  const complaint = /^\d+$/.test(port)
    ? say(Number(port) > MAX_PORT ? 'tooLarge' : 'tooSmall', { given: grouped(Number(port)) })
    : commaComplaint(port) ?? say('notNumber', { given: `"${port}"` })
  const range = say('between', { minimum: 1, maximum: grouped(MAX_PORT) })
  return say('number', { title: say('portIn', { title }), range, complaint })
}

/** @param {string} text */
const isPort = text => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_PORT
