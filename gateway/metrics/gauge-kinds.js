/**
 * What is read from the gauges of the stats, see `kinds.js`.
 *
 * @typedef {import('../stats/reader.js').Gauge} Gauge
 */
/** @template Subject @typedef {import('./kinds.js').Kind<Subject>} Kind */

/** @type {Kind<Gauge>} */
export const sinkGauge = {
  title: 'Sinks: what waits',
  about: '',
  labels: ['sink'],
  metrics: [
    ['sluice_sink_connected', 'gauge', '', '1 while the database is reached, as far as that was tried, and takes what is written.',
      'connected'],
    ['sluice_sink_pending_rows', 'gauge', 'rows', 'Rows that wait in memory to be written.', 'pendingRows'],
    ['sluice_sink_pending_bytes', 'gauge', 'bytes', 'Memory that they take.', 'pendingBytes'],
    ['sluice_sink_writes_in_flight', 'gauge', 'writes', 'Writes that the database has not answered yet.', 'inFlight'],
    ['sluice_sink_retrying_seconds', 'gauge', 'seconds', 'How long it has been trying again; 0 while it need not.',
      ({ retryingSinceMs: sinceMs }) => sinceMs === null ? 0 : Math.max(0, Date.now() - Number(sinceMs)) / 1000],
    ['sluice_sink_kept_dead_letters', 'gauge', 'rows', 'Dead letters that are kept now, to be looked at and replayed.', 'keptDeadLetters'],
    ['sluice_sink_stopped_sources', 'gauge', 'sources', 'Sources that wait because they have had their share of the dead letters.',
      ({ stoppedSources }) => countIn(stoppedSources)]
  ]
}

/** @type {Kind<Gauge>} */
export const spool = {
  title: 'Spools',
  about: 'Of each *stage out*, and each *stage in* that receives third-party messages.',
  labels: ['stage'],
  metrics: [
    ['sluice_spool_connected', 'gauge', '', '1 while the broker is reached.', 'connected'],
    ['sluice_spool_bytes', 'gauge', 'bytes', 'What the spool takes on the disk.', 'onDiskBytes'],
    ['sluice_spool_limit_bytes', 'gauge', 'bytes', 'What it may take.', 'maxBytes'],
    ['sluice_spool_unstored_bytes', 'gauge', 'bytes', 'What of it some sink has not stored.', 'unstoredBytes'],
    ['sluice_spool_batches', 'gauge', 'batches', 'Batches in it.', 'spoolBatches'],
    ['sluice_spool_waiting_batches', 'gauge', 'batches', 'Batches that wait in memory to be written down.', 'waiting'],
    ['sluice_spool_blocked', 'gauge', '', '1 while it accepts nothing, so that sources wait: it is full, or its disk fails.',
      ({ blocked }) => blocked === undefined ? null : blocked !== null],
    ['sluice_spool_dropped_rows_total', 'counter', 'rows', 'Rows that it has given up because it was full, in all its life.',
      'droppedRows'],
    ['sluice_spool_lost_rows_total', 'counter', 'rows', 'Rows that it has lost, as by a damaged disk, in all its life.', 'lostRows'],
    ['sluice_spool_torn_bytes', 'gauge', 'bytes', 'What was cut off at its end when it was opened: begun, and never said to be accepted.',
      'tornBytes'],
    ['sluice_spool_required_sinks', 'gauge', 'sinks', 'Sinks that it waits for.', ({ requiredSinks }) => countIn(requiredSinks)],
    ['sluice_spool_unwaited_sinks', 'gauge', 'sinks', 'Sinks that it cannot wait for, as there are too many.', 'unwaitedSinks']
  ]
}

/** @type {Kind<null>} */
export const raisedAlarm = {
  title: 'Alarms',
  about: 'What is wrong now, as [Alarms](alarms.md) explains: of each kind ten at most, and one whose subject is called `(several)` for ' +
    'the rest. `level` is `warning` or `problem`; `subject` is its type and name.',
  labels: ['kind', 'subject', 'level'],
  metrics: [['sluice_alarm', 'gauge', '', '1 while it is raised; absent otherwise.', () => 1]]
}

/** @type {Kind<{times: number}>} */
export const alarmCount = {
  title: 'Alarms, counted',
  about: '',
  labels: ['kind'],
  metrics: [['sluice_alarms_total', 'counter', 'alarms', 'How often alarms of the kind were raised.', 'times']]
}

/** @type {Kind<{count: number}>} */
export const alarm = {
  title: 'Alarms of spools',
  about: 'What should never happen: `clashes` (the identity of a batch, or of the gateway, is taken by another), `set_back` (a ' +
    'database has less than before), `strangers` and `impossible` (messages under names that are not theirs, or that make no sense), ' +
    '`too_big` (rows that no broker passes on), `doubts` (what a database has cannot be verified).',
  labels: ['stage', 'kind'],
  metrics: [['sluice_spool_alarms_total', 'counter', '', 'How often it has happened since the start.', 'count']]
}

/** @type {Kind<Gauge>} */
export const stageIn = {
  title: 'Stage in',
  about: '',
  labels: ['stage'],
  metrics: [
    ['sluice_stage_in_connected', 'gauge', '', '1 while the broker is reached.', 'connected'],
    ['sluice_stage_in_sinks', 'gauge', 'sinks', 'Sinks that it delivers to.', 'sinks'],
    ['sluice_stage_in_waiting_for_sinks', 'gauge', 'sinks',
      'Of these, whose databases have not yet said what they have stored: it waits for them.', ({ waitingFor }) => countIn(waitingFor)],
    ['sluice_stage_in_held', 'gauge', 'deliveries', 'Deliveries in flight, unacknowledged.', 'held'],
    ['sluice_stage_in_held_bytes', 'gauge', 'bytes', 'Memory that they take.', 'heldBytes'],
    ['sluice_stage_in_received_total', 'counter', 'batches', 'Batches received.', 'received'],
    ['sluice_stage_in_duplicates_total', 'counter', 'batches', 'Of these, those that all sinks had stored already.', 'duplicates'],
    ['sluice_stage_in_resent_total', 'counter', 'batches', 'Of these, those that a spool sent again, as they were asked for.', 'resent'],
    ['sluice_stage_in_refused_total', 'counter', 'messages', 'Messages that are no batches, kept as dead letters.', 'refused'],
    ['sluice_stage_in_third_party_total', 'counter', 'messages', 'Messages of other programs.', 'thirdParty'],
    ['sluice_stage_in_emitted_again_total', 'counter', 'deliveries', 'Deliveries that no sink had in hand in time.', 'emittedAgain'],
    ['sluice_stage_in_parked_rows', 'gauge', 'rows', 'Rows that wait for the next deploy.', 'parkedRows'],
    ['sluice_stage_in_lost_rows', 'gauge', 'rows', 'Rows that no spool holds any more, and that are not recorded.', 'lostRows']
  ]
}

/** @type {Kind<Gauge>} */
export const sourceGauge = {
  title: 'CAN and Modbus',
  about: 'Of each *CAN read* and *Modbus read*, by its name.',
  labels: ['source'],
  metrics: [
    ['sluice_can_load_ratio', 'gauge', '', 'How much of the bus\' time frames take, from 0 to 1; absent where the bit rate is not known.',
      ({ loadPercent }) => typeof loadPercent === 'number' ? loadPercent / 100 : null],
    ['sluice_can_frames_total', 'counter', 'frames', 'Frames heard.', 'frames'],
    ['sluice_can_error_frames_total', 'counter', 'frames', 'Error frames.', 'errorFrames'],
    ['sluice_can_bus_off_total', 'counter', '', 'How often the controller has left the bus.', 'busOffs'],
    ['sluice_can_dropped_frames_total', 'counter', 'frames', 'Frames that were on the bus and were lost on the way here.', 'drops'],
    ['sluice_modbus_requests_total', 'counter', 'requests', 'Requests to the device.', 'requests'],
    ['sluice_modbus_timeouts_total', 'counter', 'requests', 'Of these, those that were not answered in time.', 'timeouts'],
    ['sluice_modbus_exceptions_total', 'counter', 'requests', 'Of these, those that the device refused.', 'exceptions'],
    ['sluice_modbus_bad_replies_total', 'counter', 'requests', 'Of these, those whose answer was damaged.', 'badReplies'],
    ['sluice_modbus_disconnects_total', 'counter', '', 'How often the connection was lost.', 'disconnects'],
    ['sluice_modbus_silent_seconds', 'gauge', 'seconds', 'How long ago the device gave its last good answer.', 'lastGoodSecondsAgo']
  ]
}

/** @type {Kind<Gauge>} */
export const failed = {
  title: 'Nodes that could not start',
  about: 'By name and id; the reason is in the log, in the editor and on the live page.',
  labels: ['node'],
  metrics: [['sluice_node_failed', 'gauge', '', 'Always 1: absent once it has started.', () => 1]]
}

/** Of a gauge that lists names. @param {import('./kinds.js').Value} names */
function countIn (names) {
  return typeof names === 'string' ? names.split(', ').filter(Boolean).length : null
}
