"""Sluice's batches from a topic of Kafka to rows and windowed statistics in PostgreSQL, Cassandra or both, each exactly once: whatever is
stored again after a restart has the same key. See README.md."""

import argparse
import os

from pyspark.sql import SparkSession

import blocks
import databases

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    options = arguments()
    stores = databases.opened(options.postgresql, options.cassandra)
    if not stores:
        raise SystemExit('--postgresql or --cassandra is missing')
    for store in stores:
        store.prepare()

    spark = SparkSession.builder.appName(f'Sluice: {options.topic}').config('spark.sql.session.timeZone', 'UTC').getOrCreate()
    for module in ['blocks.py', 'databases.py']:
        spark.sparkContext.addPyFile(os.path.join(HERE, module))

    window_ms = options.window_seconds * 1000

    def store(records, _batch):
        records.foreachPartition(lambda its: store_records(its, stores, window_ms))

    query = (
        source(spark, options)
        .writeStream.foreachBatch(store)
        .option('checkpointLocation', options.checkpoints)
        .trigger(**({'availableNow': True} if options.until_now else {'processingTime': '1 second'}))
        .start()
    )
    query.awaitTermination()


def source(spark, options):
    reader = spark.readStream.format('kafka').options(**{
        'kafka.bootstrap.servers': options.kafka,
        'kafka.isolation.level': 'read_committed',
        'subscribe': options.topic,
        'startingOffsets': 'earliest',
        'maxOffsetsPerTrigger': options.records_at_once,
    })
    return reader.options(**{f'kafka.{name}': value for name, value in properties(options.kafka_properties)}).load()


def store_records(records, stores, window_ms):
    """Of a partition. Keys make it harmless to do so again: a restart begins with the batch that was under way."""
    for record in records:
        if record.value is not None:  # otherwise a compacted topic has deleted it
            block = blocks.decode(record, window_ms)
            for store in stores:
                store.store(block)


def properties(path):
    """The lines `name=value` of a file, as Kafka's own programs have them."""
    if not path:
        return []
    with open(path, encoding='utf-8') as file:
        lines = [line.strip() for line in file]
    return [[part.strip() for part in line.split('=', 1)] for line in lines if '=' in line and not line.startswith('#')]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--kafka', required=True, help='host:port, several with commas')
    parser.add_argument('--kafka-properties', help='a file of more properties: login, TLS')
    parser.add_argument('--topic', required=True)
    parser.add_argument('--postgresql', help='postgresql://user@host:port/database; its password is in POSTGRESQL_PASSWORD')
    parser.add_argument('--cassandra', help='cassandra://user@host:port/keyspace; its password is in CASSANDRA_PASSWORD')
    parser.add_argument('--checkpoints', required=True, help='a folder that outlives the job')
    parser.add_argument('--window-seconds', type=int, default=60)
    parser.add_argument('--records-at-once', type=int, default=100)
    parser.add_argument('--until-now', action='store_true', help='ends when it has read what was there when it began')
    return parser.parse_args()


if __name__ == '__main__':
    main()
