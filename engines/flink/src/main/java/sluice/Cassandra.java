package sluice;

import com.datastax.oss.driver.api.core.CqlSession;
import java.nio.ByteBuffer;
import java.time.Instant;
import org.apache.flink.api.connector.sink2.Sink;

/** Tables whose keys make it harmless to store what is there already: what a restart repeats changes nothing. */
class Cassandra {
  private static final String[] TABLES = {
    "CREATE TABLE IF NOT EXISTS sluice_rows (source text, hour timestamp, time_ns bigint, \"batch\" text, row int, tags text, fields text, "
        + "PRIMARY KEY ((source, hour), time_ns, \"batch\", row))",
    "CREATE TABLE IF NOT EXISTS sluice_windows (source text, tags text, field text, start timestamp, \"batch\" text, count bigint, "
        + "sum double, min double, max double, PRIMARY KEY ((source, tags, field), start, \"batch\"))",
    "CREATE TABLE IF NOT EXISTS sluice_unread (record text PRIMARY KEY, reason text, value blob)"
  };

  private static final String ROW = "INSERT INTO sluice_rows (source, hour, time_ns, \"batch\", row, tags, fields) "
      + "VALUES (?, ?, ?, ?, ?, ?, ?)";
  /** What counts more values is newer: after a restart, what is said of a window begins with less than has been stored. */
  private static final String WINDOW = "INSERT INTO sluice_windows (source, tags, field, start, \"batch\", count, sum, min, max) "
      + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?";
  private static final String UNREAD = "INSERT INTO sluice_unread (record, reason, value) VALUES (?, ?, ?)";

  private static final long HOUR_NS = 3_600_000_000_000L;

  private final CassandraPlace place;

  Cassandra(String host, int port, String datacenter, String keyspace, String user, String password) {
    place = new CassandraPlace(host, port, datacenter, keyspace, user, password);
  }

  void prepare() {
    try (CqlSession session = place.open()) {
      for (String table : TABLES) session.execute(table);
    }
  }

  Sink<Row> rows() {
    return new CassandraSink<>(place, ROW, row -> new Object[] {
      row.source, Instant.ofEpochSecond(Math.floorDiv(row.time, HOUR_NS) * 3600), row.time, row.batch, row.row, row.tags, row.fields
    });
  }

  Sink<Statistic> windows() {
    return new CassandraSink<>(place, WINDOW, window -> new Object[] {
      window.source, window.tags, window.field, Instant.ofEpochMilli(window.start), window.batch, window.count, window.sum,
      window.min, window.max, window.count
    });
  }

  Sink<Unread> unread() {
    return new CassandraSink<>(place, UNREAD, unread -> new Object[] { unread.batch, unread.reason, ByteBuffer.wrap(unread.value) });
  }
}
