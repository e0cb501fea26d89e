/**
 * What went wrong, in few words, by the code of the error: for the status of a node, the live page and alarms. What has no room there, the
 * cause and what to do, is in the error itself and in `docs/errors.md`.
 */
export const MAX_HEADLINE = 32

const NOT_REACHABLE = '{database} not reachable'
const DISK_FULL = 'the disk is full'
const NO_RIGHT = 'no right to a file or port'
const NO_FILE = 'a file is not there'
const UNKNOWN = 'failed, see the log'

/** Codes of Node.js stand beside those of Sluice: some errors have no other. `{database}`: which, where that is known. */
export const headlines = Object.freeze({
  SLUICE_OPTIONS: 'settings invalid, see the form',
  SLUICE_USER_DIR: 'data folder cannot be written',
  SLUICE_NODE_UNSTARTED: 'Node-RED has not made this node',
  SLUICE_DISK_FULL: DISK_FULL,

  SLUICE_SOURCE_COMMAND: 'unknown command',
  SLUICE_SOURCE_NAME: 'the source\'s name cannot be used',
  SLUICE_SOURCE_COUNT: 'too many sources',
  SLUICE_CSV_FILE: 'the CSV file cannot be read',
  SLUICE_CSV_COLUMNS: 'the file has other columns',
  SLUICE_CSV_TIMES: 'the file\'s times lack their date',
  SLUICE_CSV_EMPTY: 'no row of the file can be read',
  SLUICE_TIME_FORMAT: 'a time cannot be read',
  SLUICE_TIME_UNIT: 'unknown unit of time',
  SLUICE_TIME_PRECISION: 'a time is not exact',
  SLUICE_TIME_RANGE: 'a time is out of range',

  SLUICE_MODBUS_DEVICE_MISSING: 'no Modbus device chosen',
  SLUICE_MODBUS_SERIALPORT: 'package serialport is missing',
  SLUICE_MODBUS_DISCONNECTED: 'device not reachable',
  SLUICE_MODBUS_TIMEOUT: 'device does not answer',
  SLUICE_MODBUS_SILENT: 'device is silent',
  SLUICE_MODBUS_EXCEPTION: 'device refuses the request',
  SLUICE_MODBUS_REPLY: 'device answers wrongly',
  SLUICE_MODBUS_BUSY: 'device has too much to answer',
  SLUICE_MODBUS_REQUEST: 'request not allowed',
  SLUICE_MODBUS_CLOSED: 'ended by a deploy',
  SLUICE_MODBUS_VALUE: 'value does not fit its tag',
  SLUICE_MODBUS_WRITE: 'message cannot be written',
  SLUICE_MODBUS_WRITE_OFF: 'writing is not allowed',
  SLUICE_MODBUS_WRITE_FAILED: 'write failed',
  SLUICE_MODBUS_WRITE_UNCONFIRMED: 'reads back another value',
  SLUICE_MODBUS_TRY: 'no such address, or no answer',
  SLUICE_MODBUS_FAULT: 'unknown fault or property',
  SLUICE_MODBUS_LISTEN: 'port or line cannot be opened',

  SLUICE_CAN_BUS_MISSING: 'no CAN bus chosen',
  SLUICE_CAN_SOCKETCAN: 'SocketCAN is not available',
  SLUICE_CAN_SEND: 'frame not sent',
  SLUICE_CAN_READ_ONLY: 'a played log takes no frames',
  SLUICE_CAN_FILTER: 'filter cannot be read',
  SLUICE_CAN_FRAME: 'payload is no CAN frame',
  SLUICE_CAN_MESSAGE: 'message is not in the DBC file',
  SLUICE_CAN_ENCODE: 'values do not fit the frame',
  SLUICE_DBC_FILE: 'the DBC file cannot be read',
  SLUICE_DBC_EMPTY: 'the DBC file has no message',
  SLUICE_DBC_FORMAT: 'this is no DBC file',
  SLUICE_VEHICLE_MESSAGES: 'no message fits into a frame',
  SLUICE_REPLAY_FILE: 'the CAN log cannot be read',
  SLUICE_REPLAY_EMPTY: 'the CAN log has no frame',
  SLUICE_CAN_LOG_FORMAT: 'this format of log is not read',
  SLUICE_REPLAY_TIMES: 'the log\'s times lack their date',

  SLUICE_PAYLOAD: 'rows refused',
  SLUICE_PAYLOAD_NAMES: 'columns clash, or are too many',
  SLUICE_PAYLOAD_OPERATION: 'only inserts are taken',
  SLUICE_PAYLOAD_SQL: 'only a plain INSERT is taken',
  SLUICE_MESSAGE: 'message cannot be read',
  SLUICE_MAPPING: 'topic mapping cannot be applied',
  SLUICE_MESSAGE_TOO_LARGE: 'message is too large',
  SLUICE_CODEC_ARROW: 'Arrow cannot be read or written',
  SLUICE_BATCH_SHAPE: 'batch contradicts itself',
  SLUICE_SPARKPLUG: 'payload is not Sparkplug B',
  SLUICE_SPARKPLUG_NAME: 'edge node exists twice',
  SLUICE_SPARKPLUG_WRITE: 'metric cannot be written',
  SLUICE_SPARKPLUG_WRITE_OFF: 'writing is not allowed',

  SLUICE_SPOOL_OPEN: 'spool cannot be opened',
  SLUICE_SPOOL_GATEWAY: 'spool is of another gateway',
  SLUICE_SPOOL_FULL: 'spool is full',
  SLUICE_SPOOL_BATCH_TOO_BIG: 'batch too big for the spool',
  SLUICE_SPOOL_DAMAGED: 'spool is damaged',
  SLUICE_SPOOL_VERSION: 'spool is of another version',
  SLUICE_SPOOL_SET_BACK: 'spool was set back',
  SLUICE_SPOOL_CLOSED: 'spool was closed',
  SLUICE_BROKER_MISSING: 'no MQTT broker chosen',
  SLUICE_BROKER_OPTIONS: 'broker\'s address cannot be used',
  SLUICE_BROKER_REFUSED: 'broker not reachable',
  SLUICE_BROKER_UNREACHABLE: 'broker not reachable',
  SLUICE_BROKER_SILENT: 'no MQTT broker answers there',
  SLUICE_BROKER_RIGHTS: 'a right is missing at the broker',
  SLUICE_BROKER_AUTH: 'broker refuses the login',
  SLUICE_BROKER_TLS: 'TLS with the broker failed',
  SLUICE_BROKER_PROTOCOL: 'broker speaks another MQTT',
  SLUICE_BROKER_CLIENT_ID: 'broker refuses the client id',
  SLUICE_BROKER_BUSY: 'broker is busy',
  SLUICE_BROKER_TAKEN_OVER: 'client id is used elsewhere',
  SLUICE_BROKER_LOST: 'connection to the broker lost',
  SLUICE_BROKER_CONNECTION: 'connection to the broker failed',
  SLUICE_KAFKA_TOPIC_LOST: 'a topic of staging was deleted',
  SLUICE_BROKER_PORT: 'broker\'s port cannot be opened',
  SLUICE_BROKER_OPEN: 'broker needs accounts first',
  SLUICE_LISTEN_REFUSED: 'broker refuses the topics',
  SLUICE_TRY_TOPICS: 'messages are no longer kept',
  SLUICE_BROKER_ACCOUNT: 'broker\'s accounts are wrong',
  SLUICE_BROKER_DENIED: 'a user may not write there',
  SLUICE_BROKER_PACKET: 'message too large for the broker',
  SLUICE_BROKER_CLIENTS: 'broker has too many clients',
  SLUICE_PROTOCOL: 'message not as specified',
  SLUICE_REQUIRED_SINKS: 'sinks waited for are not known',
  SLUICE_SINK_WIRED: 'the sink is wired here',
  SLUICE_STRANGER: 'a stranger reports as stored',
  SLUICE_CLASH: 'database has another batch',
  SLUICE_DOUBT: 'stored batches are in doubt',
  SLUICE_SET_BACK: 'database was set back',
  SLUICE_ROW_TOO_BIG: 'row too big for the broker',
  SLUICE_HEAD_TOO_BIG: 'too much to announce at once',
  SLUICE_SINK_EXPIRED: 'announced sink never stored',
  SLUICE_STAGE_IN_SINKS: 'no sink is wired behind it',
  SLUICE_KAFKA_GROUP: 'a group has different sinks',
  SLUICE_SETTLE: 'nothing to settle',

  SLUICE_SINK_NAME: 'two sinks have one name',
  SLUICE_SINK_CONNECT: NOT_REACHABLE,
  SLUICE_SERVER_MISSING: 'no database server chosen',
  SLUICE_SERVER_PASSWORD: 'password is of another server',
  SLUICE_SERVER_SILENT: '{database} does not answer',
  SLUICE_SINK_CLOSED: 'closed',
  SLUICE_SINK_IDENTIFIER: 'name not possible in {database}',
  SLUICE_SINK_TABLE_MISFIT: 'batch does not fit the table',
  SLUICE_SINK_ROWS: 'rows do not fit {database}',
  SLUICE_SINK_NOT_OWNED: 'keep for: table is not its own',
  SLUICE_SINK_SET_BACK: '{database} was set back',
  SLUICE_SINK_RECORDS_OLD: 'records are of Sluice 0.1',
  SLUICE_SINK_POSTGRESQL: 'PostgreSQL refuses to store',
  SLUICE_SINK_TIMESCALE: 'TimescaleDB is missing',
  SLUICE_SINK_MYSQL: 'MySQL refuses to store',
  SLUICE_SINK_SQLITE: 'SQLite refuses to store',
  SLUICE_DUCKDB_MISSING: 'DuckDB is not installed',
  SLUICE_SINK_DUCKDB: 'DuckDB refuses to store',
  SLUICE_SINK_MONGODB: 'MongoDB refuses to store',
  SLUICE_SINK_TIMESERIES: 'no time-series collections',
  SLUICE_SINK_INFLUXDB: 'InfluxDB refuses to store',
  SLUICE_SINK_CLICKHOUSE: 'ClickHouse refuses to store',
  SLUICE_SINK_CASSANDRA: 'Cassandra refuses to store',
  SLUICE_SINK_QUESTDB: 'QuestDB refuses to store',
  SLUICE_SINK_VOLTDB: 'VoltDB refuses to store',
  SLUICE_SINK_WARP10: 'Warp 10 refuses to store',
  SLUICE_SINK_HANA: 'SAP HANA refuses to store',
  SLUICE_SINK_HBASE: 'HBase refuses to store',
  SLUICE_SINK_KAFKA: 'Kafka refuses to store',
  SLUICE_SINK_KAFKA_ROW: 'a row is too large for Kafka',
  SLUICE_KAFKA_NODE: 'Node is too old for Kafka',
  SLUICE_SINK_FILE: 'folder cannot be written',
  SLUICE_SINK_FILE_LOCKED: 'another process has the folder',
  SLUICE_SINK_FILE_DAMAGED: 'a file is damaged',
  SLUICE_SINK_FILE_CLOSED: 'folder was closed',
  SLUICE_SINK_UNKNOWN: 'unknown sink',
  SLUICE_WRITER_FULL: 'too much waits for {database}',
  SLUICE_WRITER_RELEASED: 'closed before it was stored',

  SLUICE_DEAD_LETTERS_FULL: 'dead letters are full',
  SLUICE_DEAD_LETTERS_SHARE: 'dead letters of a source full',
  SLUICE_DEAD_LETTER_TRUNCATED: 'dead letter was cut short',
  SLUICE_DEAD_LETTER_DAMAGED: 'dead letters are damaged',
  SLUICE_DEAD_LETTER_UNKNOWN: 'no such dead letter',
  SLUICE_DEAD_LETTER_SINK: 'no such sink is open',
  SLUICE_DEAD_LETTER_COMMAND: 'unknown command',
  SLUICE_REPLAY_RUNNING: 'being replayed already',
  SLUICE_REPLAY_STAGED: 'replayed rows are not staged',
  SLUICE_REPLAY_NO_GATEWAY: 'no gateway replays',
  SLUICE_REPLAY_UNANSWERED: 'replay is not answered',
  SLUICE_REPLAY_FAILED: 'replay failed',
  SLUICE_HANDOVER_CLOSED: 'replay ended by a deploy',

  SLUICE_QUERY_NAME: 'unknown query',
  SLUICE_QUERY_MESSAGE: 'msg.query is wrong',
  SLUICE_QUERY_PARAMETERS: 'a parameter is wrong',
  SLUICE_QUERY_TABLE: 'table or column is missing',
  SLUICE_QUERY_TOO_LARGE: 'too many intervals',
  SLUICE_QUERY_FULL: 'too many queries wait',
  SLUICE_QUERY_RESTART: 'server was not restarted',
  SLUICE_QUERY_CLOSED: 'ended by a deploy',
  SLUICE_QUERY_EXPORT: 'files cannot be written',
  SLUICE_QUERY_POSTGRESQL: 'PostgreSQL refuses the query',
  SLUICE_QUERY_MYSQL: 'MySQL refuses the query',
  SLUICE_QUERY_SQLITE: 'SQLite file cannot be read',
  SLUICE_QUERY_DUCKDB: 'DuckDB file cannot be read',
  SLUICE_QUERY_MONGODB: 'MongoDB refuses the query',
  SLUICE_QUERY_CLICKHOUSE: 'ClickHouse refuses the query',
  SLUICE_QUERY_CASSANDRA: 'Cassandra refuses the query',
  SLUICE_QUERY_QUESTDB: 'QuestDB refuses the query',
  SLUICE_QUERY_VOLTDB: 'VoltDB refuses the query',
  SLUICE_QUERY_WARP10: 'Warp 10 refuses the query',
  SLUICE_QUERY_HANA: 'SAP HANA refuses the query',
  SLUICE_QUERY_HBASE: 'HBase refuses the query',

  SLUICE_BENCH_UNKNOWN: 'unknown database',
  SLUICE_BENCH_NOT_EMPTY: 'database is not empty',
  SLUICE_BENCH_LIMIT: 'gateway cannot be held back',
  SLUICE_BENCH_COUNT: 'rows are missing or too many',
  SLUICE_BENCH_READ: 'read something else than written',
  SLUICE_BENCH_STALLED: 'rows stopped arriving',
  SLUICE_BENCH_OUTAGE: 'measurement of an outage failed',
  SLUICE_BENCH_SCALE: 'measurement of a plant failed',
  SLUICE_BENCH_CLIENT: 'a client could not measure',
  SLUICE_BENCH_RESUME: 'run cannot go on',
  SLUICE_BENCH_CONFIG: 'configuration cannot be read',
  SLUICE_BENCH_COMPARE: 'reports are of other studies',
  SLUICE_BENCH_REPORT: 'no result of a study',
  SLUICE_BENCH_BUSY: 'a study is being measured',
  SLUICE_BENCH_SERVER: 'server cannot be measured',
  SLUICE_BENCH_PROGRAM: 'sluice bench failed',
  SLUICE_BENCH_PROCESS: 'a program of the bench failed',

  EACCES: NO_RIGHT,
  EADDRINUSE: 'port is taken',
  ECONNREFUSED: NOT_REACHABLE,
  ECONNRESET: 'connection to {database} lost',
  EHOSTUNREACH: NOT_REACHABLE,
  ENETUNREACH: NOT_REACHABLE,
  ENOENT: NO_FILE,
  ENOSPC: DISK_FULL,
  ENOTFOUND: NOT_REACHABLE,
  EPERM: NO_RIGHT,
  EPIPE: 'connection to {database} lost',
  EROFS: 'the disk is read-only',
  ETIMEDOUT: NOT_REACHABLE
})

/** Who gets such an answer has reached the server, though the code is the same. @type {[sign: RegExp, headline: string][]} */
const ANSWERS = [
  [/password|authenticat|access denied|unauthorized|login/i, '{database} refuses the login'],
  [/does not exist|unknown database/i, '{database} lacks what is named']
]
/** What a database says, or its driver in its name, of a connection that has ended. */
const LOST = /ECONN|EPIPE|ETIMEDOUT|connection.*(?:terminated|closed|lost|ended)|terminating connection|shutting down|no answer within/i
const OF_DATABASES = /^SLUICE_(?:SINK|QUERY)_(?:POSTGRESQL|MYSQL|MONGODB|INFLUXDB|CLICKHOUSE|CASSANDRA|KAFKA)$/

/**
 * @param {unknown} problem  an error, or its line as `describe` has it
 * @param {{database?: string, otherwise?: string}} [known]  `database`: its product; `otherwise`: of what has no code that is known
 * @returns {string} of at most 32 characters
 */
export function headlineOf (problem, { database = 'database', otherwise = UNKNOWN } = {}) {
  const code = codeOf(problem)
  const text = problem instanceof Error ? problem.message : String(problem)
  const answer = code === 'SLUICE_SINK_CONNECT' ? ANSWERS.find(([sign]) => sign.test(text))?.[1] : undefined
  const lost = OF_DATABASES.test(code) && LOST.test(text) ? NOT_REACHABLE : undefined
  return (answer ?? lost ?? /** @type {Record<string, string>} */ (headlines)[code] ?? otherwise).replace('{database}', database)
}

/** @param {unknown} problem @returns {string} '' where it has none */
export function codeOf (problem) {
  if (problem instanceof Error) {
    const { code } = /** @type {{code?: unknown}} */ (problem)
    if (typeof code === 'string') return code
  }
  return /\b(?:SLUICE_[A-Z0-9_]+|E[A-Z]{4,})\b/.exec(problem instanceof Error ? problem.message : String(problem))?.[0] ?? ''
}
