/** @typedef {import('../stats/host/host.js').HostReport} HostReport */
/** @template Subject @typedef {import('./kinds.js').Kind<Subject>} Kind */

/** @type {Kind<HostReport>} */
export const host = {
  title: 'Machine',
  about: 'Where the machine tells it.',
  labels: [],
  metrics: [
    ['sluice_host_temperature_celsius', 'gauge', 'celsius', 'Of the processor, at its hottest.', 'temperatureCelsius'],
    ['sluice_host_throttled', 'gauge', '', '1 while a Raspberry Pi is slowed down, by heat or low voltage.',
      ({ throttling }) => throttling && throttling.now.length > 0],
    ['sluice_host_throttled_since_start', 'gauge', '', '1 once it has been, since the machine started.',
      ({ throttling }) => throttling && throttling.sinceStart.length > 0],
    ['sluice_host_disk_free_bytes', 'gauge', 'bytes', 'Free on the disk of the data folder.', ({ disk }) => disk?.freeBytes],
    ['sluice_host_disk_size_bytes', 'gauge', 'bytes', 'Size of that disk.', ({ disk }) => disk?.totalBytes],
    ['sluice_host_disk_written_bytes_total', 'counter', 'bytes', 'What all programs have written to it since the machine started.',
      ({ written }) => written?.bytes]
  ]
}

/** @type {Kind<HostReport['cards'][number]>} */
export const card = {
  title: 'Flash cards',
  about: 'Of each eMMC; an SD card tells nothing.',
  labels: ['card'],
  metrics: [['sluice_host_card_worn_ratio', 'gauge', '', 'How much of its life is used, to the next tenth; above 1 beyond.',
    ({ wornPercent }) => wornPercent / 100]]
}
