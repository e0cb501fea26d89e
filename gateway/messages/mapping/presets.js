/**
 * Mappings for what people have. `docs/messages.md` and `test/data/mapping/` have a message of each.
 *
 * @typedef {object} Mapping  as a node's configuration has it; what is missing or empty is the preset's, else the default
 * @property {string} [topic]  a pattern, see `pattern.js`
 * @property {string} [preset]  an id of those below
 * @property {string} [source]  text and names of the pattern: `plant.{line}`; {topic} is the whole topic, with dots
 * @property {string[]} [tags]  members of the JSON, by their paths; `name=path` to rename
 * @property {string} [time]  the path of the member that is the time
 * @property {string} [timeFormat]  auto, s, ms, us, ns, iso
 * @property {string} [values]  the path of the object that holds the values
 * @property {string} [rows]  the path of an array of which each element is a row
 * @property {string} [prefix]  before the name of each field
 * @property {string[]} [include]  globs of names of fields
 * @property {string[]} [exclude]
 *
 * @typedef {Mapping & {id: string, label: string, topic: string, help: string}} Preset
 */

/** @type {readonly Preset[]} */
export const presets = Object.freeze([
  {
    id: 'telegraf',
    label: 'Telegraf',
    topic: 'telegraf/{host}/#',
    help: 'Line protocol or JSON of outputs.mqtt. Each measurement is a source, with the tags that Telegraf gives it.'
  },
  {
    id: 'zigbee2mqtt',
    label: 'Zigbee2MQTT',
    topic: 'zigbee2mqtt/{device}',
    source: 'zigbee2mqtt',
    time: 'last_seen',
    timeFormat: 'ms',
    help: 'One table of all devices; device is the friendly name. Where names have a slash: zigbee2mqtt/{room}/{device}. last_seen is ' +
      'the time where Zigbee2MQTT sends it.'
  },
  {
    id: 'tasmota',
    label: 'Tasmota',
    topic: 'tele/{device}/{message}',
    source: 'tasmota',
    exclude: ['Time'],
    help: 'SENSOR, STATE and LWT of all devices in one table. The time is that of arrival: devices send theirs without a zone.'
  },
  {
    id: 'shelly',
    label: 'Shelly (generation 2 and later), status',
    topic: '{device}/status/{field}',
    source: 'shelly',
    time: 'unixtime',
    timeFormat: 's',
    help: 'Needs "Generic status update over MQTT" in the device. One table of all devices; fields are called like switch:0.apower.'
  },
  {
    id: 'shelly-events',
    label: 'Shelly (generation 2 and later), notifications',
    topic: '{device}/events/rpc',
    source: 'shelly',
    time: 'params.ts',
    timeFormat: 's',
    values: 'params',
    exclude: ['events'],
    help: 'Needs "RPC status notifications over MQTT" in the device, which is its default. What has changed, with the time of the device.'
  },
  {
    id: 'shelly-gen1',
    label: 'Shelly (generation 1)',
    topic: 'shellies/{device}/{field…}',
    source: 'shelly',
    exclude: ['announce.*', 'info.*', '*command*'],
    help: 'A value a topic: relay/0/power is the field relay.0.power. Texts, such as on and off, are the field relay.0_text.'
  },
  {
    id: 'esphome',
    label: 'ESPHome',
    topic: '{device}/{component}/{field}/state',
    source: 'esphome',
    help: 'A value a topic: living-room/sensor/temperature/state is the field temperature of the device living-room; texts, such as ON, ' +
      'are the field door_text.'
  },
  {
    id: 'ttn',
    label: 'The Things Stack (version 3)',
    topic: 'v3/{application}/devices/{device}/up',
    source: 'ttn',
    tags: ['dev_eui=end_device_ids.dev_eui', 'f_port=uplink_message.f_port'],
    time: 'received_at',
    timeFormat: 'iso',
    values: 'uplink_message.decoded_payload',
    help: 'Uplinks, with what the payload formatter makes of them. Name an application or device instead of the braces to take only its.'
  },
  {
    id: 'homeassistant',
    label: 'Home Assistant (statestream)',
    topic: 'homeassistant/{domain}/{entity}/{field}',
    source: 'homeassistant',
    exclude: ['config.*'],
    help: 'A value a topic: homeassistant/sensor/kitchen/state is the field state; texts, such as on or unavailable, are state_text.'
  },
  {
    id: 'sparkplug',
    label: 'Sparkplug B',
    topic: 'spBv1.0/#',
    help: 'Births, data and deaths of edge nodes. Each device is a source; with a source of its own here, all are one table with the ' +
      'tags group, node and device.'
  },
  {
    id: 'neuron',
    label: 'EMQX Neuron',
    topic: '/neuron/{_}/{node}/{group}',
    source: 'neuron',
    help: 'JSON in any of its formats, on the topic that Neuron suggests for a group. One table of all nodes and groups.'
  },
  {
    id: 'senml',
    label: 'SenML (RFC 8428)',
    topic: 'senml/#',
    source: 'senml',
    help: 'JSON or CBOR on any topic. One table; device is the base name.'
  },
  {
    id: 'topic-source',
    label: 'Each topic is a source',
    topic: '#',
    source: '{topic}',
    help: 'A table a topic, named like it with dots, as Sluice 0.1 had it. For few topics.'
  }
])
