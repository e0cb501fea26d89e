import { run } from './run.js'

const ADDRESS = 'http://deb.debian.org/debian'

/**
 * Where this machine fetches packages, as lines of APT's sources.
 * @param {string} suite  of Debian
 * @param {{components?: string, hasSecurity?: boolean}} [options]
 */
export function mirrors (suite, { components = 'main', hasSecurity = false } = {}) {
  const targets = run('apt-get', ['indextargets', '--format', '$(LABEL) $(REPO_URI)', 'Identifier: Packages', 'Origin: Debian'])
  const uris = new Map(targets.trim().split('\n').map(line => /** @type {[string, string]} */ (line.split(' '))))
  const uri = uris.get('Debian') ?? ADDRESS
  const security = uris.get('Debian-Security') ?? `${ADDRESS}-security`
  return [
    `deb ${uri} ${suite} ${components}`,
    `deb ${uri} ${suite}-updates ${components}`,
    ...hasSecurity ? [`deb ${security} ${suite}-security ${components}`] : []
  ]
}

/** How it does, as options of mmdebstrap. */
export function aptOptions () {
  return run('apt-config', ['dump', '--no-empty', 'Acquire'])
    .split('\n').filter(line => /^Acquire::(Check-|https?::Proxy)/.test(line)).map(option => `--aptopt=${option}`)
}
