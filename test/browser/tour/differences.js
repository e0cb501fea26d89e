import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asRoot } from '../../servers/mosquitto.js'

/**
 * All that is otherwise than in the README: others use this machine's ports, and its packages and services are not the test's.
 * @param {string} home  a folder for it
 * @param {number} brokerPort
 * @returns {Promise<import('./stranger.js').Difference[]>}
 */
export async function differences (home, brokerPort) {
  const etc = join(home, 'mosquitto')
  await writeDebianMosquitto(etc)
  return [
    { file: 'flows/flows.json', readme: '1883', here: String(brokerPort) },
    { file: 'broker/mosquitto.conf', readme: 'listener 1883', here: [...asRoot(), `listener ${brokerPort}`].join('\n') },
    { file: 'broker/mosquitto.conf', readme: '/var/lib/mosquitto/', here: `${home}/` },
    // A machine that is so busy that the gateway stands still for a second would have a hole that nobody made.
    { file: 'flows/flows.json', readme: '"sampleRateHz": 1000', here: '"sampleRateHz": 1000, "maxBacklogMs": 60000' },
    { readme: 'npm test ', here: ': ' }, // this is one of them
    { readme: 'apt-get install --no-install-recommends mosquitto', here: 'command -v mosquitto' }, // `npm test` has installed it
    { readme: '/etc/mosquitto/', here: `${etc}/` },
    { readme: 'systemctl restart mosquitto', here: `exec mosquitto -c ${etc}/mosquitto.conf` } // as Debian's unit has it
  ]
}

/** What Debian's package has in /etc/mosquitto. @param {string} etc */
async function writeDebianMosquitto (etc) {
  await mkdir(join(etc, 'conf.d'), { recursive: true })
  const lines = ['persistence true', `persistence_location ${etc}/`, `log_dest file ${etc}/mosquitto.log`, `include_dir ${etc}/conf.d`]
  await writeFile(join(etc, 'mosquitto.conf'), `${lines.join('\n')}\n`)
}
