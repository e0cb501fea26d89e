/**
 * The options that servers of several kinds have. A server's schema names those that it has, in the order of its form, with what differs;
 * options of its own it describes in full.
 *
 * @type {Record<string, object>}
 */
const SHARED = {
  host: {
    type: 'string',
    title: 'Host',
    description: 'Name or address of the server.',
    minLength: 1,
    default: '127.0.0.1'
  },
  port: {
    type: 'integer',
    title: 'Port',
    description: 'TCP port of the server.',
    minimum: 1,
    maximum: 65535
  },
  database: {
    type: 'string',
    title: 'Database',
    description: 'The database. It must exist.',
    minLength: 1,
    default: 'sluice'
  },
  user: {
    type: 'string',
    title: 'User',
    default: '',
    'x-secret': true
  },
  password: {
    type: 'string',
    title: 'Password',
    description: 'Password of the user. Leave empty where the server asks for none.',
    default: '',
    'x-secret': true
  },
  tls: {
    type: 'string',
    title: 'TLS',
    description: 'off sends everything in plain text; require encrypts without checking who answers; verify also checks the server\'s ' +
      'certificate and name, which is the right choice for a server on another machine.',
    enum: ['off', 'require', 'verify'],
    'x-labels': {
      off: 'off: nothing is encrypted',
      require: 'require: encrypted, server unchecked',
      verify: 'verify: encrypted, server checked'
    },
    default: 'off'
  },
  ca: {
    type: 'string',
    title: 'CA certificate',
    description: 'The certificate authority to trust, as PEM text or as the path of a PEM file. Empty trusts the public ones.',
    default: '',
    'x-when': { tls: 'verify' }
  },
  weakLogin: {
    type: 'boolean',
    title: 'Weak logins',
    default: false,
    'x-advanced': true,
    'x-when': { tls: 'off' }
  },
  compression: {
    type: 'string',
    title: 'Compression',
    description: 'Whether what is written is compressed by gzip: to a tenth of the bytes, for much processor time. remote: ' +
      'not where the server is on this machine.',
    enum: ['remote', 'always', 'never'],
    'x-labels': { remote: 'remote: unless on this machine', always: 'always', never: 'never' },
    default: 'remote',
    'x-advanced': true
  },
  connections: {
    type: 'integer',
    title: 'Connections',
    description: 'Maximum number of connections to the server, of all sinks and queries together. One batch is written on each.',
    minimum: 1,
    maximum: 64,
    default: 4,
    'x-advanced': true
  }
}

/** For `connections` of a server whose queries hold a connection each (see Lender). */
export const LENT_CONNECTIONS = {
  description: 'Maximum number of connections to the server, of all sinks and queries together. One batch is written on each; ' +
    'queries leave one to the sinks.',
  minimum: 2
}

/**
 * @template {Record<string, object>} P
 * @param {{title: string, description: string, properties: P}} server
 */
export function connectionSchema ({ title, description, properties }) {
  const all = Object.entries(properties).map(([name, own]) => [name, { ...SHARED[name], ...own }])
  return {
    type: 'object',
    title,
    description,
    additionalProperties: false,
    properties: /** @type {{[K in keyof P]: {type: string, title: string, description: string, default: any}}} */ (Object.fromEntries(all))
  }
}
