import { randomBytes } from 'node:crypto'
import { SluiceError } from '../../gateway/base/errors.js'
import { gatewayTopics } from '../topics.js'
import { checkAccess } from './access.js'
import { nameOf, open } from './probing.js'

/** Below the 15 s of a test. */
const PATIENCE_MS = 10_000

/**
 * A broker to be tried, as the tests of connections want it: in a moment, where a preflight takes its time.
 * @param {import('../connection/connection.js').BrokerOptions} options
 * @param {string} gateway  that is to stage there
 */
export function connect (options, gateway) {
  /** @type {Promise<import('../connection/connection.js').Connection>|undefined} */
  let opening
  return {
    /** @returns {Promise<string>} what is there */
    async test () {
      const id = randomBytes(6).toString('hex')
      opening = open(options, { clientId: `sluice-test-${id}` }, PATIENCE_MS)
      const { client, place, protocolVersion } = await opening
      const { name, version } = await nameOf(client)
      /** @type {import('./finding.js').Finding[]} */
      const findings = []
      await checkAccess({ options, client, gateway, id, topic: gatewayTopics(gateway).preflight(id), findings })
      const [missing] = findings
      if (missing) throw new SluiceError('SLUICE_BROKER_RIGHTS', `${place} lets this user in. ${missing.text}`, { fix: missing.fix })
      const product = name === 'unknown' ? 'A broker' : `${name} ${version}`.trimEnd()
      const protocol = protocolVersion === 5 ? 'MQTT 5' : 'MQTT 3.1.1'
      const login = options.user ? `logged in as "${options.user}"` : 'without a login'
      return `${product} at ${place} (${protocol}), ${login}: the gateway ${gateway} may publish and subscribe.`
    },
    async close () {
      await (await opening)?.close()
    }
  }
}
