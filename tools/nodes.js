/**
 * The node types as the editor shows them. Options come from `nodes/<file>.schema.js`, the text of the help from `nodes/<file>.md`,
 * the icon is `icons/<type>.svg` beside them.
 *
 * @typedef {object} NodeFace
 * @property {string} type
 * @property {string} file  below `nodes/`, without ending
 * @property {string} label  in the palette
 * @property {string} summary  one line, for docs/nodes.md
 * @property {number} [inputs]
 * @property {number} [outputs]
 * @property {string[]} [outputLabels]
 * @property {boolean} [isConfig]
 * @property {boolean} [hasTest]  its form can try the connection
 * @property {boolean} [hasTry]  its form can try the registers of its table `tags`
 * @property {boolean} [hasButton]  it has a button in the flow
 * @property {boolean} [hasReports]  its form lists the reports of studies
 */

/** What the palette calls its categories, in the order in which they stand there. */
export const categories = {
  sources: 'sluice sources',
  fieldbus: 'sluice fieldbus',
  staging: 'sluice staging',
  databases: 'sluice databases',
  operations: 'sluice operations'
}

/** @type {Record<string, {title: string, color: string, category: keyof categories}>} */
export const groups = {
  sources: { title: 'Sources', color: '#87b38d', category: 'sources' },
  modbus: { title: 'Modbus', color: '#7fb9b5', category: 'fieldbus' },
  can: { title: 'CAN', color: '#a9b96b', category: 'fieldbus' },
  staging: { title: 'Staging', color: '#e0ab5b', category: 'staging' },
  sinks: { title: 'Sinks', color: '#7ba6cf', category: 'databases' },
  queries: { title: 'Queries', color: '#d19a9a', category: 'databases' },
  operations: { title: 'Operations', color: '#b3a1d1', category: 'operations' },
  bench: { title: 'Bench', color: '#c9a58a', category: 'operations' }
}

/** @type {NodeFace[]} */
export const faces = [
  {
    type: 'sluice-simulator', file: 'sources/simulator', label: 'simulator',
    summary: 'Produces samples: those of the papers, or channels of your own with spikes, dropouts and drift, up to 100 kHz.',
    inputs: 1, outputs: 1
  },
  {
    type: 'sluice-candump', file: 'sources/candump', label: 'candump player',
    summary: 'Plays a CAN log through a DBC file, at any speed.',
    inputs: 1, outputs: 1
  },
  {
    type: 'sluice-csv', file: 'sources/csv', label: 'CSV player',
    summary: 'Plays a CSV file with a table of columns, its times exact, at any speed.',
    inputs: 1, outputs: 1
  },
  {
    type: 'sluice-modbus-device', file: 'modbus/device', label: 'Modbus device',
    summary: 'How a Modbus device is reached, over TCP or a serial line (shared by the nodes that read and write it).',
    isConfig: true, hasTest: true
  },
  {
    type: 'sluice-modbus-read', file: 'modbus/read', label: 'Modbus read',
    summary: 'Polls a table of tags in the fewest requests, in groups from 10 ms up.',
    inputs: 1, outputs: 1, hasTry: true
  },
  {
    type: 'sluice-modbus-write', file: 'modbus/write', label: 'Modbus write',
    summary: 'Writes values to a device, within limits, and reads each back.',
    inputs: 1, outputs: 1
  },
  {
    type: 'sluice-modbus-simulator', file: 'modbus/simulator', label: 'Modbus simulator',
    summary: 'Modbus devices whose values move, and which fail on command.',
    inputs: 1, outputs: 1
  },
  {
    type: 'sluice-can-bus', file: 'can/bus', label: 'CAN bus',
    summary: 'A SocketCAN interface, the playback of a log, or a virtual bus (shared by the nodes that read and send).',
    isConfig: true
  },
  {
    type: 'sluice-can-read', file: 'can/read', label: 'CAN read',
    summary: 'Reads the signals of a CAN bus by a DBC file, J1939 and NMEA 2000 too, or its frames.',
    inputs: 1, outputs: 1
  },
  {
    type: 'sluice-can-decode', file: 'can/decode', label: 'CAN decode',
    summary: 'Decodes CAN frames from anywhere into signals.',
    inputs: 1, outputs: 1
  },
  {
    type: 'sluice-can-write', file: 'can/write', label: 'CAN write',
    summary: 'Sends messages by name, or frames, to a CAN bus: once or cyclically.',
    inputs: 1
  },
  {
    type: 'sluice-vehicle', file: 'can/vehicle', label: 'vehicle',
    summary: 'Simulates a car on a CAN bus, or any DBC file\'s messages.'
  },
  {
    type: 'sluice-broker', file: 'staging/broker', label: 'MQTT broker',
    summary: 'Where the broker is, and how to log in (shared by stage out and stage in).',
    isConfig: true, hasTest: true
  },
  {
    type: 'sluice-embedded-broker', file: 'staging/embedded-broker', label: 'embedded broker',
    summary: 'Runs an MQTT broker inside the gateway.'
  },
  {
    type: 'sluice-stage-out', file: 'staging/stage-out', label: 'stage out',
    summary: 'Puts batches into a spool on disk and sends them to the broker.',
    inputs: 1
  },
  {
    type: 'sluice-stage-in', file: 'staging/stage-in', label: 'stage in',
    summary: 'Receives batches from the broker; acknowledges each once all its sinks have stored it.',
    outputs: 1
  },
  {
    type: 'sluice-kafka-in', file: 'staging/kafka-in', label: 'Kafka in',
    summary: 'Reads topics of Kafka, alone or as one of a group; sinks behind it store each record exactly once.',
    outputs: 1
  },
  {
    type: 'sluice-sparkplug-out', file: 'staging/sparkplug-out', label: 'Sparkplug out',
    summary: 'Publishes batches as a Sparkplug B edge node: births, data, death, rebirth on command.',
    inputs: 1
  },
  {
    type: 'sluice-sparkplug-write', file: 'staging/sparkplug-write', label: 'Sparkplug write',
    summary: 'Writes metrics of a Sparkplug device or edge node, as a host: NCMD and DCMD, within limits.',
    inputs: 1,
    outputs: 1
  },
  {
    type: 'sluice-settle', file: 'staging/settle', label: 'settle',
    summary: 'Tells stage in that a flow drops a batch on purpose.',
    inputs: 1
  },
  {
    type: 'sluice-sqlite', file: 'sinks/sqlite', label: 'SQLite',
    summary: 'Stores batches in an SQLite file, exactly once.',
    inputs: 1
  },
  {
    type: 'sluice-duckdb', file: 'sinks/duckdb', label: 'DuckDB',
    summary: 'Stores batches in a DuckDB file, by column, for analysis on the gateway, exactly once.',
    inputs: 1
  },
  {
    type: 'sluice-postgresql', file: 'sinks/postgresql', label: 'PostgreSQL',
    summary: 'Stores batches in PostgreSQL by binary COPY, exactly once.',
    inputs: 1
  },
  {
    type: 'sluice-mysql', file: 'sinks/mysql', label: 'MySQL',
    summary: 'Stores batches in MariaDB or MySQL by LOAD DATA, exactly once.',
    inputs: 1
  },
  {
    type: 'sluice-mongodb', file: 'sinks/mongodb', label: 'MongoDB',
    summary: 'Stores batches in MongoDB: a document per row, value or interval, exactly once; in time-series collections at least once.',
    inputs: 1
  },
  {
    type: 'sluice-influxdb', file: 'sinks/influxdb', label: 'InfluxDB',
    summary: 'Stores batches in InfluxDB 1, 2 or 3 as line protocol, exactly once; over UDP it may lose.',
    inputs: 1
  },
  {
    type: 'sluice-clickhouse', file: 'sinks/clickhouse', label: 'ClickHouse',
    summary: 'Stores batches in ClickHouse, column by column, exactly once.',
    inputs: 1
  },
  {
    type: 'sluice-cassandra', file: 'sinks/cassandra', label: 'Cassandra',
    summary: 'Stores batches in Apache Cassandra, in partitions of a source and a length of time, exactly once.',
    inputs: 1
  },
  {
    type: 'sluice-hbase', file: 'sinks/hbase', label: 'HBase',
    summary: 'Stores batches in Apache HBase through its REST server, exactly once.',
    inputs: 1
  },
  {
    type: 'sluice-questdb', file: 'sinks/questdb', label: 'QuestDB',
    summary: 'Stores batches in QuestDB by line protocol over HTTP, exactly once.',
    inputs: 1
  },
  {
    type: 'sluice-voltdb', file: 'sinks/voltdb', label: 'VoltDB',
    summary: 'Stores batches in VoltDB by its procedure of bulk loading, exactly once.',
    inputs: 1
  },
  {
    type: 'sluice-warp10', file: 'sinks/warp10', label: 'Warp 10',
    summary: 'Stores batches in Warp 10 by its text over HTTP, exactly once.',
    inputs: 1
  },
  {
    type: 'sluice-hana', file: 'sinks/hana', label: 'SAP HANA',
    summary: 'Stores batches in SAP HANA by inserts of many rows, exactly once; tested with a fake server only.',
    inputs: 1
  },
  {
    type: 'sluice-kafka', file: 'sinks/kafka', label: 'Kafka',
    summary: 'Writes batches to topics of Apache Kafka, as Arrow or JSON, exactly once.',
    inputs: 1
  },
  {
    type: 'sluice-file', file: 'sinks/file', label: 'file',
    summary: 'Appends batches to files of CSV, line protocol, Arrow or Warp 10, exactly once, rotated by size and time.',
    inputs: 1
  },
  {
    type: 'sluice-null', file: 'sinks/null', label: 'null',
    summary: 'Stores nothing, and counts: to measure the way there.',
    inputs: 1
  },
  {
    type: 'sluice-postgresql-server', file: 'sinks/postgresql-server', label: 'PostgreSQL server',
    summary: 'Where a PostgreSQL or TimescaleDB server is, and how to log in.',
    isConfig: true
  },
  {
    type: 'sluice-mysql-server', file: 'sinks/mysql-server', label: 'MySQL server',
    summary: 'Where a MariaDB or MySQL server is, and how to log in.',
    isConfig: true
  },
  {
    type: 'sluice-mongodb-server', file: 'sinks/mongodb-server', label: 'MongoDB server',
    summary: 'Where a MongoDB server is, and how to log in.',
    isConfig: true
  },
  {
    type: 'sluice-influxdb-server', file: 'sinks/influxdb-server', label: 'InfluxDB server',
    summary: 'Where an InfluxDB is, which version, and how to log in.',
    isConfig: true
  },
  {
    type: 'sluice-clickhouse-server', file: 'sinks/clickhouse-server', label: 'ClickHouse server',
    summary: 'Where a ClickHouse server is, and how to log in.',
    isConfig: true
  },
  {
    type: 'sluice-cassandra-server', file: 'sinks/cassandra-server', label: 'Cassandra server',
    summary: 'Where an Apache Cassandra cluster is, and how to log in.',
    isConfig: true
  },
  {
    type: 'sluice-hbase-server', file: 'sinks/hbase-server', label: 'HBase server',
    summary: 'Where the REST server of an Apache HBase cluster is, and how to log in.',
    isConfig: true
  },
  {
    type: 'sluice-questdb-server', file: 'sinks/questdb-server', label: 'QuestDB server',
    summary: 'Where a QuestDB server is, and how to log in.',
    isConfig: true
  },
  {
    type: 'sluice-voltdb-server', file: 'sinks/voltdb-server', label: 'VoltDB server',
    summary: 'Where a VoltDB server is, and how to log in.',
    isConfig: true
  },
  {
    type: 'sluice-warp10-server', file: 'sinks/warp10-server', label: 'Warp 10 server',
    summary: 'Where a Warp 10 server is, and its tokens.',
    isConfig: true
  },
  {
    type: 'sluice-hana-server', file: 'sinks/hana-server', label: 'SAP HANA server',
    summary: 'Where a SAP HANA server is, and how to log in.',
    isConfig: true
  },
  {
    type: 'sluice-kafka-server', file: 'sinks/kafka-server', label: 'Kafka server',
    summary: 'Where an Apache Kafka cluster is, and how to log in.',
    isConfig: true
  },
  {
    type: 'sluice-query', file: 'queries/query', label: 'query',
    summary: 'Reads samples, statistics and machine cycles from a database, in pages.',
    inputs: 1, outputs: 1
  },
  {
    type: 'sluice-lookup', file: 'queries/lookup', label: 'read by key',
    summary: 'Reads whole rows by their key, for updates by a sink with the layout upsert.',
    inputs: 1, outputs: 1
  },
  {
    type: 'sluice-stats', file: 'operations/stats', label: 'stats',
    summary: 'Reports rates, latency, queues and losses of the whole gateway, and what it uses of the machine.',
    inputs: 1, outputs: 1
  },
  {
    type: 'sluice-alarm', file: 'operations/alarm', label: 'alarm',
    summary: 'Sends a message when something goes wrong, and when it is over: for mail, MQTT, Telegram.',
    outputs: 1
  },
  {
    type: 'sluice-dead-letters', file: 'operations/dead-letters', label: 'dead letters',
    summary: 'Lists and replays the rows a database refused.',
    inputs: 1, outputs: 2, outputLabels: ['events and answers', 'rows to replay']
  },
  {
    type: 'sluice-bench-run', file: 'bench/run', label: 'bench run',
    summary: 'Measures again, on this machine, what a paper has measured: at the press of its button, in a process of its own.',
    inputs: 1, outputs: 2, outputLabels: ['result', 'progress'], hasButton: true
  },
  {
    type: 'sluice-bench-report', file: 'bench/report', label: 'bench report',
    summary: 'Writes and serves the report of a run, beside the paper\'s figures; compares runs.',
    inputs: 1, outputs: 1, hasReports: true
  }
]
