import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asRoot, startMosquitto } from '../../servers/mosquitto.js'
import { freePort } from '../../servers/ports.js'

/** @typedef {import('../plan.js').Kill} Kill */

/**
 * Mosquitto with the configuration that this package ships, but snapshots every second: what comes back is then not an empty broker, but
 * the harder case, sessions without their last messages.
 * @param {string} dir  for all that it keeps
 * @returns {Promise<import('./brokers.js').Broker>}
 */
export async function startShippedMosquitto (dir) {
  const port = await freePort()
  const shipped = await readFile(new URL('../../../broker/mosquitto.conf', import.meta.url), 'utf8')
  const confText = [
    shipped
      .replace('listener 1883 ', `listener ${port} `)
      .replace('autosave_interval 10', 'autosave_interval 1')
      .replace('/var/lib/mosquitto/', `${dir}/`),
    ...asRoot(),
    `log_dest file ${join(dir, 'mosquitto.log')}`,
    ''
  ].join('\n')
  await mkdir(dir)
  const mosquitto = await startMosquitto({ dir, port, confText })
  return {
    node: { type: 'sluice-broker', url: mosquitto.url },
    option: { broker: 'broker' },
    stop: () => mosquitto.stop(),
    start: () => mosquitto.start(),
    /** @param {Kill} kill */
    async kill ({ forgets }) {
      await mosquitto.kill()
      if (forgets) await mosquitto.deletePersistence()
    }
  }
}
