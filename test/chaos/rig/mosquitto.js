import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** @typedef {import('../plan.js').Kill} Kill */

/** What keeps this machine from running it, null when nothing does. @returns {Promise<string|null>} */
export async function missingMosquitto () {
  const { findProgram } = await import('../../servers/programs.js')
  return findProgram('mosquitto') ? null : 'Mosquitto is not installed. On Debian: apt-get install mosquitto'
}

/**
 * Mosquitto with the configuration that this package ships, but snapshots every second: what comes back is then not an empty broker, but
 * the harder case, sessions without their last messages.
 * @param {string} dir  for all that it keeps
 */
export async function startMosquitto (dir) {
  const { asRoot, startMosquitto: start } = await import('../../servers/mosquitto.js')
  const { freePort } = await import('../../servers/ports.js')
  const port = await freePort()
  const shipped = await readFile(new URL('../../../broker/mosquitto.conf', import.meta.url), 'utf8')
  const confText = [
    shipped.replace('listener 1883 ', `listener ${port} `).replace('autosave_interval 10', 'autosave_interval 1').replace('/var/lib/mosquitto/', `${dir}/`),
    ...asRoot(),
    `log_dest file ${join(dir, 'mosquitto.log')}`,
    ''
  ].join('\n')
  await mkdir(dir)
  const mosquitto = await start({ dir, port, confText })
  return {
    url: mosquitto.url,
    stop: () => mosquitto.stop(),
    start: () => mosquitto.start(),
    /** @param {Kill} kill */
    async kill ({ forgets }) {
      await mosquitto.kill()
      if (forgets) await mosquitto.deletePersistence()
    }
  }
}
