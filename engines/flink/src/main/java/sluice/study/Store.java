package sluice.study;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import sluice.CassandraPlace;

/** A connection of an operator, which reads and replaces records by their id. */
interface Store extends AutoCloseable {
  String COLUMNS = "id, integer1, integer2, integer3, double1, double2, double3, blob";
  String TABLE = "engine_rows";

  static Store open(Load load) throws SQLException {
    return load.database.equals("cassandra") ? new InCassandra(load) : new InPostgresql(load);
  }

  /** Null where there is none. */
  Record read(String id) throws SQLException;

  void write(Record record) throws SQLException;

  long count() throws SQLException;

  /** The table. */
  void remove() throws SQLException;

  @Override
  void close() throws SQLException;

  class InPostgresql implements Store {
    private final Connection connection;
    private final java.sql.PreparedStatement reading;
    private final java.sql.PreparedStatement writing;

    InPostgresql(Load load) throws SQLException {
      String url = "jdbc:postgresql://" + load.host + ":" + load.port + "/" + load.name;
      connection = DriverManager.getConnection(url, load.user, load.password);
      execute("CREATE TABLE IF NOT EXISTS " + TABLE + " (id text PRIMARY KEY, integer1 int, integer2 int, integer3 int, double1 float8, "
          + "double2 float8, double3 float8, blob bytea)");
      reading = connection.prepareStatement("SELECT " + COLUMNS + " FROM " + TABLE + " WHERE id = ?");
      writing = connection.prepareStatement("INSERT INTO " + TABLE + " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
          + "integer1 = excluded.integer1, integer2 = excluded.integer2, integer3 = excluded.integer3, double1 = excluded.double1, "
          + "double2 = excluded.double2, double3 = excluded.double3, blob = excluded.blob");
    }

    @Override
    public Record read(String id) throws SQLException {
      reading.setString(1, id);
      try (ResultSet found = reading.executeQuery()) {
        if (!found.next()) return null;
        double[] numbers = new double[6];
        for (int i = 0; i < numbers.length; i++) numbers[i] = i < 3 ? found.getInt(i + 2) : found.getDouble(i + 2);
        return new Record(found.getString(1), numbers, found.getBytes(8));
      }
    }

    @Override
    public void write(Record record) throws SQLException {
      writing.setString(1, record.id());
      double[] numbers = record.numbers();
      for (int i = 0; i < numbers.length; i++) {
        if (i < 3) writing.setInt(i + 2, (int) numbers[i]);
        else writing.setDouble(i + 2, numbers[i]);
      }
      writing.setBytes(8, record.blob());
      writing.executeUpdate();
    }

    @Override
    public long count() throws SQLException {
      try (ResultSet found = connection.createStatement().executeQuery("SELECT count(*) FROM " + TABLE)) {
        found.next();
        return found.getLong(1);
      }
    }

    @Override
    public void remove() throws SQLException {
      execute("DROP TABLE " + TABLE);
    }

    @Override
    public void close() throws SQLException {
      connection.close();
    }

    private void execute(String sql) throws SQLException {
      connection.createStatement().execute(sql);
    }
  }

  class InCassandra implements Store {
    private final CqlSession session;
    private final PreparedStatement reading;
    private final PreparedStatement writing;

    InCassandra(Load load) {
      session = new CassandraPlace(load.host, load.port, "datacenter1", load.name, load.user, load.password).open();
      session.execute("CREATE TABLE IF NOT EXISTS " + TABLE + " (id text PRIMARY KEY, integer1 int, integer2 int, integer3 int, "
          + "double1 double, double2 double, double3 double, blob blob)");
      reading = session.prepare("SELECT " + COLUMNS + " FROM " + TABLE + " WHERE id = ?");
      writing = session.prepare("INSERT INTO " + TABLE + " (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    }

    @Override
    public Record read(String id) {
      Row found = session.execute(reading.bind(id)).one();
      if (found == null) return null;
      double[] numbers = new double[6];
      for (int i = 0; i < numbers.length; i++) numbers[i] = i < 3 ? found.getInt(i + 1) : found.getDouble(i + 1);
      ByteBuffer blob = found.getByteBuffer("blob");
      byte[] bytes = new byte[blob.remaining()];
      blob.get(bytes);
      return new Record(found.getString("id"), numbers, bytes);
    }

    @Override
    public void write(Record record) {
      double[] its = record.numbers();
      session.execute(writing.bind(record.id(), (int) its[0], (int) its[1], (int) its[2], its[3], its[4], its[5],
          ByteBuffer.wrap(record.blob())));
    }

    @Override
    public long count() {
      return session.execute("SELECT count(*) FROM " + TABLE).one().getLong(0);
    }

    @Override
    public void remove() {
      session.execute("DROP TABLE " + TABLE);
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
