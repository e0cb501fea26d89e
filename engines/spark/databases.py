"""Tables whose keys make it harmless to store what is there already."""

import os
from urllib.parse import urlsplit


def opened(postgresql, cassandra):
    return [Store(url) for Store, url in [(Postgresql, postgresql), (Cassandra, cassandra)] if url]


class Postgresql:
    TABLES = """
        CREATE TABLE IF NOT EXISTS sluice_rows (batch text, row int, source text NOT NULL, time timestamptz NOT NULL,
          time_ns bigint NOT NULL, tags jsonb NOT NULL, fields jsonb NOT NULL, PRIMARY KEY (batch, row));
        CREATE TABLE IF NOT EXISTS sluice_windows (source text, tags jsonb, field text, start timestamptz, batch text,
          count bigint NOT NULL, sum float8 NOT NULL, min float8 NOT NULL, max float8 NOT NULL,
          PRIMARY KEY (source, tags, field, start, batch));
        CREATE OR REPLACE VIEW sluice_statistics AS SELECT source, tags, field, start, sum(count)::bigint AS count,
          sum(sum) / sum(count) AS mean, min(min) AS min, max(max) AS max, sum(sum) AS sum FROM sluice_windows
          GROUP BY source, tags, field, start;
        CREATE TABLE IF NOT EXISTS sluice_unread (record text PRIMARY KEY, reason text NOT NULL, value bytea NOT NULL)"""

    # Of each part of a block: its table, what arrives, and what is stored of it.
    STORED = {
        'rows': ('sluice_rows', 'batch text, row int, source text, time_ns bigint, tags text, fields text',
                 'batch, row, source, to_timestamp((time_ns / 1000)::float8 / 1000000), time_ns, tags::jsonb, fields::jsonb'),
        'windows': ('sluice_windows', 'source text, tags text, field text, start_ms bigint, batch text, count bigint, '
                    'sum float8, min float8, max float8',
                    'source, tags::jsonb, field, to_timestamp(start_ms::float8 / 1000), batch, count, sum, min, max'),
        'unread': ('sluice_unread', 'record text, reason text, value bytea', 'record, reason, value'),
    }

    def __init__(self, url):
        self.host, self.port, self.user, self.password, self.database = parts_of(url, 5432, 'POSTGRESQL_PASSWORD')

    def prepare(self):
        with self.connect() as connection:
            connection.execute(self.TABLES)

    def store(self, block):
        with self.connect() as connection, connection.cursor() as cursor:
            for part, (table, columns, values) in self.STORED.items():
                cursor.execute(f'CREATE TEMPORARY TABLE {part} ({columns}) ON COMMIT DROP')
                with cursor.copy(f'COPY {part} FROM STDIN') as copy:
                    for row in getattr(block, part):
                        copy.write_row(row)
                cursor.execute(f'INSERT INTO {table} SELECT {values} FROM pg_temp.{part} ON CONFLICT DO NOTHING')

    def connect(self):
        import psycopg
        return psycopg.connect(host=self.host, port=self.port, user=self.user, password=self.password, dbname=self.database)


class Cassandra:
    TABLES = [
        'CREATE TABLE IF NOT EXISTS sluice_rows (source text, hour timestamp, time_ns bigint, "batch" text, row int, tags text, '
        'fields text, PRIMARY KEY ((source, hour), time_ns, "batch", row))',
        'CREATE TABLE IF NOT EXISTS sluice_windows (source text, tags text, field text, start timestamp, "batch" text, count bigint, '
        'sum double, min double, max double, PRIMARY KEY ((source, tags, field), start, "batch"))',
        'CREATE TABLE IF NOT EXISTS sluice_unread (record text PRIMARY KEY, reason text, value blob)',
    ]

    STORED = {
        'rows': 'INSERT INTO sluice_rows ("batch", row, source, time_ns, tags, fields, hour) VALUES (?, ?, ?, ?, ?, ?, ?)',
        'windows': 'INSERT INTO sluice_windows (source, tags, field, start, "batch", count, sum, min, max) '
                   'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        'unread': 'INSERT INTO sluice_unread (record, reason, value) VALUES (?, ?, ?)',
    }

    HOUR_NS, HOUR_MS = 3_600_000_000_000, 3_600_000

    AT_ONCE = 128
    PATIENCE_SECONDS = 60
    sessions = {}

    def __init__(self, url):
        self.host, self.port, self.user, self.password, self.keyspace = parts_of(url, 9042, 'CASSANDRA_PASSWORD')

    def prepare(self):
        for table in self.TABLES:
            self.session().execute(table)

    def store(self, block):
        from cassandra.concurrent import execute_concurrent_with_args
        session = self.session()
        rows = [(*row, row[3] // self.HOUR_NS * self.HOUR_MS) for row in block.rows]
        for part, values in [('rows', rows), ('windows', block.windows), ('unread', block.unread)]:
            statement = session.prepare(self.STORED[part])
            execute_concurrent_with_args(session, statement, values, concurrency=self.AT_ONCE)  # raises the first error

    def session(self):
        """One a process: Spark keeps those of Python for many tasks."""
        from cassandra.auth import PlainTextAuthProvider
        from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
        place = (self.host, self.port, self.keyspace)
        if place not in self.sessions:
            login = PlainTextAuthProvider(self.user, self.password) if self.user else None
            profile = ExecutionProfile(request_timeout=self.PATIENCE_SECONDS)
            cluster = Cluster([self.host], port=self.port, auth_provider=login, execution_profiles={EXEC_PROFILE_DEFAULT: profile},
                              connect_timeout=self.PATIENCE_SECONDS, control_connection_timeout=self.PATIENCE_SECONDS)
            self.sessions[place] = cluster.connect(self.keyspace)
        return self.sessions[place]


def parts_of(url, port, variable):
    """The password is in the environment, where no list of processes shows it."""
    parts = urlsplit(url)
    return parts.hostname, parts.port or port, parts.username or '', os.environ.get(variable, ''), parts.path[1:]
