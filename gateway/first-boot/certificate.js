import { execFile } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PRIVATE_FILE } from '../base/files.js'
import { STATE } from './host.js'

const CERTIFICATE = `${STATE}/tls.crt`
const KEY = `${STATE}/tls.key`
/** For the group of the gateway. */
const KEY_MODE = 0o640
const VALID_DAYS = 3650

/**
 * The editor's key, and a certificate for these names and addresses, which signs itself: the one that is there, where it has just these,
 * or a new one. The key stays.
 * @param {import('./host.js').Host} host
 * @param {string[]} names  the first is its subject
 */
export async function setCertificate ({ root, run, done }, names) {
  const kept = { key: await root.read(KEY), certificate: await root.read(CERTIFICATE) }
  const isKept = isFor(kept, names)
  const key = kept.key || newKey()
  const certificate = isKept ? kept.certificate : await makeCertificate(key, names)
  if (await root.write(KEY, key, KEY_MODE)) await run('chown', 'root:sluice', root.at(KEY))
  await root.write(CERTIFICATE, certificate)
  done(`Certificate: ${names.join(', ')}`)
  return { key, certificate, fingerprint: new X509Certificate(certificate).fingerprint256 }
}

/** @param {{key: string, certificate: string}} kept @param {string[]} names */
function isFor ({ key, certificate }, names) {
  if (!key || !certificate) return false
  const found = new X509Certificate(certificate)
  const alternatives = found.subjectAltName?.split(', ') ?? []
  return found.checkPrivateKey(createPrivateKey(key)) && alternatives.length === names.length &&
    names.every(name => isIP(name) ? found.checkIP(name) : found.checkHost(name))
}

function newKey () {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

/** @param {string} key @param {string[]} names */
async function makeCertificate (key, names) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-certificate-'))
  try {
    const [keyFile, settings, out] = ['key.pem', 'settings', 'certificate.pem'].map(name => join(folder, name))
    await writeFile(keyFile, key, { mode: PRIVATE_FILE })
    await writeFile(settings, settingsFor(names))
    await promisify(execFile)('openssl', ['req', '-x509', '-new', '-sha256', '-key', keyFile, '-config', settings,
      '-days', String(VALID_DAYS), '-out', out])
    return await readFile(out, 'utf8')
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** What openssl is to make; without it, what the machine's own settings say would count. @param {string[]} names */
function settingsFor (names) {
  const alternatives = names.map(name => `${isIP(name) ? 'IP' : 'DNS'}:${name}`)
  return `[req]
prompt = no
distinguished_name = subject
x509_extensions = extensions
[subject]
CN = ${names[0]}
[extensions]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = ${alternatives.join(', ')}
`
}
