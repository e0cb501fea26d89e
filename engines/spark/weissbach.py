"""Databases inside stream processing: a file of JSON has the load, what was measured is printed. Generator and operator are one job."""

import base64
import json
import random
import sys
import time

NEW = -1
CHECKED = 1000
COLUMNS = 'id, integer1, integer2, integer3, double1, double2, double3, blob'
TABLE = 'engine_rows'


def main():
    from pyspark.sql import SparkSession
    with open(sys.argv[1], encoding='utf-8') as file:
        load = json.load(file)
    spark = SparkSession.builder.appName('Weissbach').getOrCreate()
    store = opened(load)
    clients = load['clients']
    # Messages, as many as an operator takes.
    messages = spark.sparkContext.range(0, clients * 10**9, numSlices=clients)
    runs = messages.mapPartitionsWithIndex(lambda client, its: [json.dumps(Operator(load, client).run(its))]).collect()
    count = store.count()
    store.remove()
    print(json.dumps({'count': count, 'runs': [json.loads(run) for run in runs]}))


class Operator:
    """Reads the record of a message by its key, adds what came, and replaces it, or what of that the pattern has; one message after the
    other, with keys and a connection of its own. Each read is compared with what was written last."""

    def __init__(self, load, client):
        self.load, self.client, self.pattern = load, client, load['pattern']
        self.store = opened(load)
        self.blobs = [base64.b64decode(blob) for blob in load['blobs']]
        self.known = len(range(client, load['ids'], load['clients']))
        self.numbers, self.times, self.made = {}, {}, 0
        self.reads, self.writes, self.compared = [], [], 0

    def run(self, messages):
        chosen = random.Random(self.client)
        signals = self.load['signals']
        for place in range(self.known):
            self.write(place, signals[place % len(signals)], False)
        from_ns = time.perf_counter_ns() + self.load['warmUpMs'] * 1_000_000
        until_ns = from_ns + self.load['limitMs'] * 1_000_000
        records, began, ended = 0, from_ns, from_ns
        for n in messages:
            now = time.perf_counter_ns()
            if now >= until_ns or records >= self.load['maxRecords']:
                break
            is_measured = now >= from_ns
            if is_measured and records == 0:
                began = now
            self.message(chosen, signals[n % len(signals)], is_measured)
            if is_measured:
                records += 1
                ended = time.perf_counter_ns()
        for place in range(0, self.known, max(1, self.known // CHECKED)):
            self.read(place, False)
        return {'records': records, 'seconds': (ended - began) / 1e9, 'rows': self.known + self.made, 'compared': self.compared,
                'readMicroseconds': self.reads, 'writeMicroseconds': self.writes}

    def message(self, chosen, signal, is_measured):
        is_new = self.pattern == 'insert' or (self.pattern == 'mixed' and chosen.random() < 0.5)
        place = NEW if is_new else chosen.randrange(self.known)
        numbers = None if self.pattern == 'insert' else self.read(place, is_measured)
        if self.pattern != 'read':
            added = signal if numbers is None else [value + more for value, more in zip(numbers, signal)]
            self.write(place, added, is_measured)

    def read(self, place, is_measured):
        began = time.perf_counter_ns()
        found = self.store.read(self.id(place))
        if is_measured:
            self.reads.append((time.perf_counter_ns() - began) // 1000)
        self.compared += 1
        expected = None if place == NEW else (self.id(place), *self.numbers[place], self.blob(self.times[place]))
        if found != expected:
            raise ValueError(f'A read of {self.id(place)} returned something else')
        return found and found[1:7]

    def write(self, place, numbers, is_measured):
        times = 1 if place == NEW else self.times.get(place, 0) + 1
        # Whole numbers wrap, as those of 32 bits do.
        whole = [(int(value) + 2**31) % 2**32 - 2**31 for value in numbers[:3]]
        record = (self.id(place), *whole, *map(float, numbers[3:]), self.blob(times))
        began = time.perf_counter_ns()
        self.store.write(record)
        if is_measured:
            self.writes.append((time.perf_counter_ns() - began) // 1000)
        if place == NEW:
            self.made += 1
        else:
            self.times[place] = times
            self.numbers[place] = record[1:7]

    def id(self, place):
        if place != NEW:
            return f'U{place * self.load["clients"] + self.client:011d}'
        return f'N{self.client:02d}{self.made:09d}'

    def blob(self, times):
        return self.blobs[times % len(self.blobs)]


def opened(load):
    return (InCassandra if load['database'] == 'cassandra' else InPostgresql)(load)


class InPostgresql:
    def __init__(self, load):
        import psycopg
        self.connection = psycopg.connect(host=load['host'], port=load['port'], user=load['user'], password=load['password'],
                                          dbname=load['name'], autocommit=True, prepare_threshold=0)
        self.execute(f'CREATE TABLE IF NOT EXISTS {TABLE} (id text PRIMARY KEY, integer1 int, integer2 int, integer3 int, double1 float8, '
                     'double2 float8, double3 float8, blob bytea)')

    def read(self, key):
        row = self.execute(f'SELECT {COLUMNS} FROM {TABLE} WHERE id = %b', [key], binary=True).fetchone()
        return row and (*row[:7], bytes(row[7]))

    def write(self, record):
        replaced = ', '.join(f'{name} = excluded.{name}' for name in COLUMNS.split(', ')[1:])
        self.execute(f'INSERT INTO {TABLE} VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE SET {replaced}', record)

    def count(self):
        return self.execute(f'SELECT count(*) FROM {TABLE}').fetchone()[0]

    def remove(self):
        self.execute(f'DROP TABLE {TABLE}')

    def execute(self, *statement, **how):
        return self.connection.execute(*statement, **how)


class InCassandra:
    def __init__(self, load):
        from cassandra.cluster import Cluster
        self.session = Cluster([load['host']], port=load['port']).connect(load['name'])
        self.session.execute(f'CREATE TABLE IF NOT EXISTS {TABLE} (id text PRIMARY KEY, integer1 int, integer2 int, integer3 int, '
                             'double1 double, double2 double, double3 double, blob blob)')
        self.reading = self.session.prepare(f'SELECT {COLUMNS} FROM {TABLE} WHERE id = ?')
        self.writing = self.session.prepare(f'INSERT INTO {TABLE} ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)')

    def read(self, key):
        row = self.session.execute(self.reading, [key]).one()
        return row and tuple(row)

    def write(self, record):
        self.session.execute(self.writing, record)

    def count(self):
        return self.session.execute(f'SELECT count(*) FROM {TABLE}').one()[0]

    def remove(self):
        self.session.execute(f'DROP TABLE {TABLE}')


if __name__ == '__main__':
    main()
