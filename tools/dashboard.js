/**
 * The dashboard for Grafana, `packaging/grafana/sluice.json`, as `tools/generate.js` writes it.
 *
 * @typedef {object} Panel
 * @property {string} title
 * @property {string} [unit]  of Grafana: `short` unless it says otherwise
 * @property {'stat'|'timeseries'} [type]
 * @property {string} [about]
 * @property {[expression: string, legend: string][]} queries  `$i` stands for the gateways that are chosen
 * @property {string} [mayBeEmpty]  why a gateway may have nothing of it
 * @property {{from: number, color: string}[]} [thresholds]
 */

const GOOD_AT_ONE = [{ from: 0, color: 'red' }, { from: 1, color: 'green' }]
const UNTOLD = 'This machine does not tell.'
const BAD_ABOVE_ZERO = [{ from: 0, color: 'green' }, { from: 1, color: 'red' }]

/** @param {number} share @param {string} histogram */
const quantile = (share, histogram) => {
  return `histogram_quantile(${share}, sum by (instance, sink, le) (rate(${histogram}_bucket{$i}[$__rate_interval])))`
}
const rate = (/** @type {string} */ counter) => `rate(${counter}{$i}[$__rate_interval])`

/** @type {Record<string, Panel[]>} */
export const ROWS = {
  Overview: [
    { title: 'Ready', type: 'stat', queries: [['sluice_ready{$i}', '{{instance}}']], thresholds: GOOD_AT_ONE },
    { title: 'Version', type: 'stat', queries: [['sluice_build_info{$i}', '{{instance}} {{version}}']] },
    { title: 'Stored', unit: 'rowsps', type: 'stat', queries: [[`sum(${rate('sluice_sink_rows_total')})`, '']] },
    { title: 'Waits to be stored', unit: 'bytes', type: 'stat', queries: [['sum(sluice_spool_unstored_bytes{$i})', '']] },
    {
      title: 'Rows lost',
      type: 'stat',
      about: 'Of all sinks, in all their life: no spool holds these rows any more, and they are not stored.',
      queries: [['sum(sluice_sink_balance_rows{state="lost", $i})', '']],
      thresholds: BAD_ABOVE_ZERO
    },
    {
      title: 'Dead letters kept',
      type: 'stat',
      queries: [['sum(sluice_sink_kept_dead_letters{$i})', '']],
      thresholds: [{ from: 0, color: 'green' }, { from: 1, color: 'orange' }]
    },
    {
      title: 'Sources silent for ten minutes',
      type: 'stat',
      queries: [['sum(time() - sluice_source_last_row_timestamp_seconds{$i} > bool 600)', '']],
      thresholds: BAD_ABOVE_ZERO
    },
    {
      title: 'Nodes that could not start',
      type: 'stat',
      queries: [['sum(sluice_node_failed{$i}) or vector(0)', '']],
      thresholds: BAD_ABOVE_ZERO
    }
  ],
  Sinks: [
    { title: 'Rows stored', unit: 'rowsps', queries: [[rate('sluice_sink_rows_total'), '{{instance}} {{sink}}']] },
    {
      title: 'Latency, from sample to commit',
      unit: 's',
      queries: [
        [quantile(0.5, 'sluice_sink_latency_seconds'), '{{instance}} {{sink}} p50'],
        [quantile(0.99, 'sluice_sink_latency_seconds'), '{{instance}} {{sink}} p99']
      ]
    },
    {
      title: 'Time the database takes for a batch, p99',
      unit: 's',
      queries: [[quantile(0.99, 'sluice_sink_write_seconds'), '{{instance}} {{sink}}']]
    },
    { title: 'Database reached', queries: [['sluice_sink_connected{$i}', '{{instance}} {{sink}}']] },
    { title: 'Writes tried again', unit: 'ops', queries: [[rate('sluice_sink_retries_total'), '{{instance}} {{sink}}']] },
    { title: 'Waiting to be written', unit: 'bytes', queries: [['sluice_sink_pending_bytes{$i}', '{{instance}} {{sink}}']] }
  ],
  Staging: [
    {
      title: 'Spool: what some sink has not stored',
      unit: 'bytes',
      queries: [
        ['sluice_spool_unstored_bytes{$i}', '{{instance}} {{stage}}'],
        ['sluice_spool_limit_bytes{$i}', '{{instance}} {{stage}} limit']
      ]
    },
    {
      title: 'Spool: full by',
      unit: 'percentunit',
      queries: [['sluice_spool_bytes{$i} / sluice_spool_limit_bytes{$i}', '{{instance}} {{stage}}']]
    },
    { title: 'Spool accepts nothing', queries: [['sluice_spool_blocked{$i}', '{{instance}} {{stage}}']] },
    {
      title: 'Broker reached',
      queries: [
        ['sluice_spool_connected{$i}', '{{instance}} {{stage}} out'],
        ['sluice_stage_in_connected{$i}', '{{instance}} {{stage}} in']
      ]
    },
    { title: 'Deliveries in flight', queries: [['sluice_stage_in_held{$i}', '{{instance}} {{stage}}']] },
    { title: 'Staged', unit: 'rowsps', queries: [[`sum by (instance) (${rate('sluice_staged_rows_total')})`, '{{instance}}']] }
  ],
  'Losses and refusals': [
    {
      title: 'Rows lost and dropped',
      unit: 'rowsps',
      queries: [
        [`sum by (instance) (${rate('sluice_staged_lost_rows_total')})`, '{{instance}} lost by a spool'],
        [`sum by (instance) (${rate('sluice_staged_dropped_rows_total')})`, '{{instance}} dropped'],
        [`sum by (instance) (${rate('sluice_source_missed_rows_total')})`, '{{instance}} missed by a source']
      ]
    },
    { title: 'Dead letters', unit: 'rowsps', queries: [[rate('sluice_sink_dead_letters_total'), '{{instance}} {{sink}}']] },
    { title: 'Duplicates refused', unit: 'rowsps', queries: [[rate('sluice_sink_duplicate_rows_total'), '{{instance}} {{sink}}']] },
    { title: 'Alarms', queries: [['increase(sluice_spool_alarms_total{$i}[$__rate_interval])', '{{instance}} {{stage}} {{kind}}']] },
    { title: 'Parked until the next deploy', queries: [['sluice_stage_in_parked_rows{$i}', '{{instance}} {{stage}}']] }
  ],
  Sources: [
    {
      title: 'Rows, of the 20 with most',
      unit: 'rowsps',
      queries: [[`topk(20, ${rate('sluice_staged_rows_total')})`, '{{instance}} {{source}}']]
    },
    {
      title: 'Since the last row, of the 20 that are silent longest',
      unit: 's',
      queries: [['topk(20, time() - sluice_staged_last_row_timestamp_seconds{$i})', '{{instance}} {{source}}']]
    },
    {
      title: 'CAN: bus load',
      unit: 'percentunit',
      queries: [['sluice_can_load_ratio{$i}', '{{instance}} {{source}}']],
      mayBeEmpty: 'No CAN bus whose bit rate is known.'
    },
    {
      title: 'Modbus: requests without a good answer',
      unit: 'reqps',
      queries: [[
        ['timeouts', 'exceptions', 'bad_replies'].map(what => rate(`sluice_modbus_${what}_total`)).join(' + '),
        '{{instance}} {{source}}'
      ]],
      mayBeEmpty: 'No Modbus device.'
    }
  ],
  Gateway: [
    { title: 'Processor', unit: 'percentunit', about: '1 is a core.', queries: [[rate('process_cpu_seconds_total'), '{{instance}}']] },
    {
      title: 'Memory',
      unit: 'bytes',
      queries: [['process_resident_memory_bytes{$i}', '{{instance}}'], ['nodejs_heap_size_used_bytes{$i}', '{{instance}} heap']]
    },
    { title: 'Main thread busy', unit: 'percentunit', queries: [[rate('nodejs_eventloop_busy_seconds_total'), '{{instance}}']] },
    { title: 'Open files', queries: [['process_open_fds{$i}', '{{instance}}']] },
    {
      title: 'Clock set',
      queries: [['sluice_clock_synchronized{$i}', '{{instance}}']],
      mayBeEmpty: 'It is not known yet.'
    }
  ],
  Machine: [
    {
      title: 'Free on the disk',
      unit: 'percentunit',
      queries: [['sluice_host_disk_free_bytes{$i} / sluice_host_disk_size_bytes{$i}', '{{instance}}']],
      mayBeEmpty: UNTOLD
    },
    {
      title: 'Written to the disk',
      unit: 'Bps',
      queries: [[rate('sluice_host_disk_written_bytes_total'), '{{instance}}']],
      mayBeEmpty: UNTOLD
    },
    { title: 'Temperature', unit: 'celsius', queries: [['sluice_host_temperature_celsius{$i}', '{{instance}}']], mayBeEmpty: UNTOLD },
    { title: 'Slowed down', queries: [['sluice_host_throttled{$i}', '{{instance}}']], mayBeEmpty: UNTOLD },
    {
      title: 'Life of the card used',
      unit: 'percentunit',
      queries: [['sluice_host_card_worn_ratio{$i}', '{{instance}} {{card}}']],
      mayBeEmpty: UNTOLD
    }
  ]
}

const COLUMNS = 24
const SIZES = { stat: { w: 3, h: 4 }, timeseries: { w: 8, h: 8 } }
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' }

/** @returns {object} in the model of Grafana */
export function dashboard () {
  let y = 0
  let id = 0
  const panels = Object.entries(ROWS).flatMap(([title, row]) => {
    const head = { id: ++id, type: 'row', title, collapsed: false, gridPos: { x: 0, y: y++, w: COLUMNS, h: 1 }, panels: [] }
    let x = 0
    let height = 0
    const placed = row.map(each => {
      const { w, h } = SIZES[each.type ?? 'timeseries']
      if (x + w > COLUMNS) {
        x = 0
        y += height
      }
      height = h
      x += w
      return { id: ++id, ...panel(each), gridPos: { x: x - w, y, w, h } }
    })
    y += height
    return [head, ...placed]
  })
  return {
    title: 'Sluice',
    uid: 'sluice',
    tags: ['sluice'],
    description: 'Gateways of Sluice: from every source to every sink, what waits on the way, and what was lost.',
    editable: true,
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {} },
        {
          name: 'instance',
          label: 'Gateway',
          type: 'query',
          datasource: DATASOURCE,
          query: { query: 'label_values(sluice_build_info, instance)', refId: 'instances' },
          refresh: 2,
          includeAll: true,
          allValue: '.*',
          multi: true,
          current: { text: 'All', value: '$__all' }
        }
      ]
    },
    panels
  }
}

/** @param {Panel} panel */
function panel ({ title, unit = 'short', type = 'timeseries', about, queries, thresholds }) {
  const steps = thresholds?.map(({ from, color }, i) => ({ color, value: i === 0 ? null : from }))
  return {
    type,
    title,
    ...about && { description: about },
    datasource: DATASOURCE,
    fieldConfig: {
      defaults: { unit, min: 0, ...steps && { thresholds: { mode: 'absolute', steps }, color: { mode: 'thresholds' } } },
      overrides: []
    },
    options: type === 'stat'
      ? { reduceOptions: { calcs: ['lastNotNull'] }, textMode: title === 'Version' ? 'name' : 'auto', colorMode: 'background' }
      : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(([expression, legend], i) => ({
      refId: String.fromCharCode(65 + i),
      datasource: DATASOURCE,
      expr: expression.replaceAll('$i', 'instance=~"$instance"'),
      legendFormat: legend || '__auto'
    }))
  }
}
