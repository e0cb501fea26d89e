/** @typedef {{host: string, port: number}} Broker */

const MAX_PORT = 65_535

/** Of the brokers that a connection names. @param {{host: string, port: number}} options */
export function placesOf (options) {
  return brokersIn(options).map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(', ')
}

/** With a port of its own, or the one of all. @param {{host: string, port: number}} options @returns {Broker[]} */
export function brokersIn ({ host, port }) {
  return host.split(',').map(text => text.trim()).filter(text => text !== '').map(text => {
    const [, bracketed, name = bracketed, own = port] = /^(?:\[(.+)\]|([^:]+|.*:.*:.*))(?::(\d{1,5}))?$/.exec(text) ?? []
    return name && Number(own) <= MAX_PORT ? { host: name, port: Number(own) } : { host: text, port }
  })
}
