package sluice;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.connector.jdbc.JdbcConnectionOptions;
import org.apache.flink.connector.jdbc.JdbcExecutionOptions;
import org.apache.flink.connector.jdbc.JdbcStatementBuilder;
import org.apache.flink.connector.jdbc.core.datastream.sink.JdbcSink;

/** Tables whose keys make it harmless to store what is there already: what a restart repeats changes nothing. */
class Postgresql {
  private static final String[] TABLES = {
    "CREATE TABLE IF NOT EXISTS sluice_rows (batch text, row int, source text NOT NULL, time timestamptz NOT NULL, "
        + "time_ns bigint NOT NULL, tags jsonb NOT NULL, fields jsonb NOT NULL, PRIMARY KEY (batch, row))",
    "CREATE TABLE IF NOT EXISTS sluice_windows (source text, tags jsonb, field text, start timestamptz, batch text, "
        + "count bigint NOT NULL, sum float8 NOT NULL, min float8 NOT NULL, max float8 NOT NULL, "
        + "PRIMARY KEY (source, tags, field, start, batch))",
    "CREATE OR REPLACE VIEW sluice_statistics AS SELECT source, tags, field, start, sum(count)::bigint AS count, "
        + "sum(sum) / sum(count) AS mean, min(min) AS min, max(max) AS max, sum(sum) AS sum FROM sluice_windows "
        + "GROUP BY source, tags, field, start",
    "CREATE TABLE IF NOT EXISTS sluice_unread (record text PRIMARY KEY, reason text NOT NULL, value bytea NOT NULL)"
  };

  private static final String ROW = "INSERT INTO sluice_rows VALUES (?, ?, ?, to_timestamp(?::float8 / 1000000), ?, ?::jsonb, ?::jsonb) "
      + "ON CONFLICT DO NOTHING";
  /** After a restart, what is said of a window begins with less than has been stored. */
  private static final String WINDOW = "INSERT INTO sluice_windows AS old VALUES (?, ?::jsonb, ?, to_timestamp(?::float8 / 1000), "
      + "?, ?, ?, ?, ?) ON CONFLICT (source, tags, field, start, batch) DO UPDATE SET count = excluded.count, sum = excluded.sum, "
      + "min = excluded.min, max = excluded.max WHERE excluded.count >= old.count";
  private static final String UNREAD = "INSERT INTO sluice_unread VALUES (?, ?, ?) ON CONFLICT DO NOTHING";

  private final String url;
  private final String user;
  private final String password;

  Postgresql(String url, String user, String password) {
    this.url = url;
    this.user = user;
    this.password = password;
  }

  void prepare() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url, user, password); Statement statement = connection.createStatement()) {
      for (String table : TABLES) statement.execute(table);
    }
  }

  Sink<Row> rows() {
    return sink(ROW, (to, row) -> {
      to.setString(1, row.batch);
      to.setInt(2, row.row);
      to.setString(3, row.source);
      to.setLong(4, Math.floorDiv(row.time, 1000L));
      to.setLong(5, row.time);
      to.setString(6, row.tags);
      to.setString(7, row.fields);
    }, "?reWriteBatchedInserts=true");
  }

  Sink<Statistic> windows() {
    return sink(WINDOW, (to, window) -> {
      to.setString(1, window.source);
      to.setString(2, window.tags);
      to.setString(3, window.field);
      to.setLong(4, window.start);
      to.setString(5, window.batch);
      to.setLong(6, window.count);
      to.setDouble(7, window.sum);
      to.setDouble(8, window.min);
      to.setDouble(9, window.max);
    }, ""); // a statement must not have the same window twice
  }

  Sink<Unread> unread() {
    return sink(UNREAD, (to, unread) -> {
      to.setString(1, unread.batch);
      to.setString(2, unread.reason);
      to.setBytes(3, unread.value);
    }, "");
  }

  private <T> Sink<T> sink(String sql, JdbcStatementBuilder<T> values, String more) {
    return JdbcSink.<T>builder()
        .withQueryStatement(sql, values)
        .withExecutionOptions(JdbcExecutionOptions.builder().withBatchSize(5000).withBatchIntervalMs(1000).withMaxRetries(3).build())
        .buildAtLeastOnce(new JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
            .withUrl(url + more).withDriverName("org.postgresql.Driver").withUsername(user).withPassword(password).build());
  }
}
