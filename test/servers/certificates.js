import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A private authority, a server certificate for 127.0.0.1 and localhost, and a client certificate, as PEM files in `dir`.
 * @param {string} dir
 */
export function makeCertificates (dir) {
  const file = (/** @type {string} */ name) => join(dir, name)
  const openssl = (/** @type {string[]} */ ...args) => execFileSync('openssl', args, { stdio: 'pipe' })
  const newKey = (/** @type {string} */ name) => openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', file(`${name}.key`))

  newKey('ca')
  openssl('req', '-x509', '-new', '-key', file('ca.key'), '-out', file('ca.crt'), '-days', '2', '-subj', '/CN=Sluice test authority')
  writeFileSync(file('server.ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n')
  writeFileSync(file('client.ext'), 'extendedKeyUsage=clientAuth\n')
  for (const name of ['server', 'client']) {
    newKey(name)
    openssl('req', '-new', '-key', file(`${name}.key`), '-out', file(`${name}.csr`), '-subj', `/CN=${name}`)
    openssl('x509', '-req', '-in', file(`${name}.csr`), '-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial',
      '-out', file(`${name}.crt`), '-days', '2', '-extfile', file(`${name}.ext`))
  }
  return {
    ca: file('ca.crt'),
    server: { cert: file('server.crt'), key: file('server.key') },
    client: { cert: file('client.crt'), key: file('client.key') }
  }
}
