/**
 * What `sluice.toml` on the boot partition may say: a table for each part of the machine. What is not there stays as the image has it. The
 * commented template on the card and the table in docs/deploy.md are generated from this.
 *
 * @typedef {import('../../resources/options.js').Property} Property
 * @typedef {import('../../resources/options.js').Schema & {description: string, isList?: boolean}} Section  of a list, such as `[[can]]` in
 *   TOML: one entry of it
 * @typedef {Partial<Property>} More
 * @typedef {Omit<Property, 'title'>} Untitled
 */

/** @param {string} description @param {string} example @param {More} [more] @returns {Untitled} */
const text = (description, example, more) => ({ type: 'string', description, examples: [example], ...more })
/** @param {string} description @param {string} example @param {More} item @param {More} [more] @returns {Untitled} */
const list = (description, example, item, more) => ({
  type: 'array', description, examples: [example], items: { type: 'string', title: 'entry', examples: [example], ...item }, ...more
})
/** @param {string} description @param {boolean} usual @returns {Untitled} */
const flag = (description, usual) => ({ type: 'boolean', description, default: usual })
/** @param {string} description @param {string} unit @param {[number, number]} limits @param {More} more @returns {Untitled} */
const whole = (description, unit, [minimum, maximum], more) => ({
  type: 'integer', description, minimum, maximum, ...(unit && { 'x-unit': unit }), ...more
})
/** @param {string} description @param {(string|number)[]} choices  the first is the usual one @returns {Untitled} */
const choice = (description, choices) => ({
  type: typeof choices[0] === 'number' ? 'integer' : 'string', description, enum: choices, default: choices[0]
})
/** @param {string} description @param {Record<string, Untitled>} untitled @param {Partial<Section>} [more] @returns {Section} */
const section = (description, untitled, more) => ({
  type: 'object',
  description,
  properties: Object.fromEntries(Object.entries(untitled).map(([title, property]) => [title, { title, ...property }])),
  ...more
})

const NAME = { pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$', maxLength: 64 }
const ADDRESS = { pattern: '^[0-9a-fA-F:.]+$' }
const INTERFACE = { pattern: '^[a-z][a-z0-9_-]{0,14}$' }
/** The name of a file beside this one, not a path. */
const FILE = { pattern: '^[^/\\\\\\p{Cc}]+$' }
/** What ends no line that it is written to. */
const LINE = { pattern: '^\\P{Cc}+$' }
/** Never shown, not even where it is wrong. */
const SECRET = { 'x-secret': true }
const KEY = '(ssh-(ed25519|rsa)|ecdsa-sha2-nistp\\d{3}|sk-[a-z0-9-]+@openssh\\.com) [A-Za-z0-9+/]{60,}={0,2}'

/** @param {string} whose */
const addresses = whose => ({
  address: text(`Fixed address of ${whose} and the length of its network's prefix; without it the network assigns one (DHCP).`,
    '192.168.1.50/24', { pattern: '^[0-9a-fA-F:.]+/\\d{1,3}$' }),
  gateway: text('Router, with a fixed address.', '192.168.1.1', ADDRESS),
  dns: list('Name servers, with a fixed address.', '192.168.1.1', ADDRESS)
})

const withController = { 'x-when': { controller: ['mcp2515', 'mcp251xfd'] } }

/** @type {Record<string, Section>} */
export const SECTIONS = {
  system: section('The machine', {
    host_name: text('Its name: the editor is at https://NAME.local:1880/. Small letters, digits and hyphens.', 'sluice', NAME),
    time_zone: text('Of its logs and screens; what is stored is always UTC.', 'Europe/Berlin', { pattern: '^[A-Za-z0-9_+/-]+$' }),
    ntp_servers: list('Where it gets the time from, instead of Debian\'s servers.', 'ntp.plant.lan', { pattern: '^[A-Za-z0-9.:-]+$' }),
    read_only_root: flag('Only data are written to the card: whatever else changes is gone after the next start.', false),
    config_txt: list('Further lines of config.txt. Debian\'s device trees know no dtparam, and want overlays of their own.',
      'gpu_mem=16', LINE)
  }),
  editor: section('Who may use the editor and the live page', {
    password: text('Of the user admin, at least 8 characters. At the next start it is hashed, and removed from this file. Without one, a ' +
      'random password is made: see sluice-password.txt.', 'choose a long one', { minLength: 8, maxLength: 128, ...LINE, ...SECRET }),
    names: list('Further names under which it is reached; its certificate has them, too.', 'gateway.plant.lan', NAME)
  }),
  ssh: section('Who may log in over the network (ssh root@sluice.local). Nobody may with a password', {
    keys: list('Public keys, each the line of a file such as id_ed25519.pub.',
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExampleExam ada@desk',
      { pattern: `^${KEY}( \\P{Cc}*)?$` })
  }),
  ethernet: section('Network over cable: only where it needs a fixed address', addresses('the network socket'), { required: ['address'] }),
  wifi: section('Wi-Fi: WPA2, or WPA2 and WPA3 mixed', {
    ssid: text('Name of the network.', 'plant', { maxLength: 32, ...LINE }),
    password: text('Of the network; without it the network is open. It stays in this file.', 'the password of the network',
      { pattern: '^[ -~]{8,63}$', ...SECRET }),
    country: text('Where the machine stands, in two letters: it decides which channels may be used.', 'DE', { pattern: '^[A-Z]{2}$' }),
    ...addresses('the machine there')
  }, { required: ['ssid', 'country'] }),
  broker: section('An MQTT broker elsewhere, instead of the Mosquitto of this machine', {
    url: text('mqtt://host:port, or mqtts:// for TLS; ws:// and wss:// for websockets.', 'mqtts://broker.plant.lan:8883',
      { pattern: '^(mqtt|mqtts|ws|wss)://[^/@\\s]+(/\\S*)?$' }),
    user: text('Name of this gateway\'s account.', 'gateway-7'),
    password: text('Of that account. It stays in this file.', 'the password of the account', SECRET),
    ca: text('Certificate of the authority that signed the broker\'s (PEM): the name of a file beside this one.', 'broker-ca.pem', FILE),
    verify: flag('Without it the connection is encrypted, but anyone may pose as the broker.', true)
  }, { required: ['url'] }),
  mosquitto: section('The Mosquitto of this machine', {
    listen: choice('Who reaches it: this machine only (local); the network, by TLS on port 8883 with the certificate of the editor ' +
      '(tls); or also in clear text on port 1883 (plain). Always with user and password.', ['local', 'tls', 'plain'])
  }),
  device: section('Something that publishes to the Mosquitto of this machine; once for each', {
    name: text('User name.', 'energy-meter', { pattern: '^[^\\s:+#/]{1,64}$' }),
    password: text('At least 8 characters. It stays in this file.', 'a long password', { minLength: 8, ...LINE, ...SECRET }),
    topics: list('Where it may publish, and the gateway may read.', 'energy/#', LINE, { minItems: 1 })
  }, { required: ['name', 'password', 'topics'], isList: true }),
  can: section('A CAN interface; once for each', {
    name: text('Of the interface.', 'can0', INTERFACE),
    virtual: flag('There is no hardware: what one program sends, all others on this machine receive.', false),
    bit_rate: whole('All devices of a bus have the same one.', 'bit/s', [5000, 1_000_000], { default: 500_000 }),
    data_bit_rate: whole('Of the data in CAN FD frames; without it the interface does classic CAN.', 'bit/s', [5000, 15_000_000],
      { examples: ['2000000'] }),
    restart_ms: whole('How long after too many errors (bus-off) it tries again; 0 never does.', 'ms', [0, 3_600_000], { default: 100 }),
    queue_length: whole('How many frames may wait to be sent.', 'frames', [1, 100_000], { default: 1000 }),
    listen_only: flag('Reads along, and neither sends nor acknowledges: nothing it does disturbs the bus.', false),
    loopback: flag('Receives what it sends itself: for tests without a bus.', false),
    controller: choice('Chip of a board on the pin header (SPI); empty for USB adapters. The board\'s papers have what follows.',
      ['', 'mcp2515', 'mcp251xfd']),
    oscillator_hz: whole('Of the quartz beside the chip.', 'Hz', [1_000_000, 40_000_000], { default: 12_000_000, ...withController }),
    interrupt_gpio: whole('The GPIO that the chip\'s interrupt is wired to.', '', [0, 27], { default: 25, ...withController }),
    chip_select: { ...choice('The chip select of SPI 0 that the chip is wired to.', [0, 1]), ...withController }
  }, { required: ['name'], isList: true }),
  serial: section('The serial port on the pin header (pins 8 and 10). USB adapters need no setting', {
    console: flag('The system shows its start and a login there; false frees the port, as for Modbus RTU.', true)
  }),
  flow: section('A flow to run instead of the image\'s', {
    file: text('The name of a file beside this one, exported from an editor. Whenever its content is another, it replaces the gateway\'s ' +
      'flow, which is kept as flows.before-import.json.', 'flow.json', FILE)
  }, { required: ['file'] })
}
