package sluice;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.util.function.SerializableFunction;

/** Stores each element by one statement, many at a time. A checkpoint waits until all that came before it is stored. */
class CassandraSink<T> implements Sink<T> {
  private static final int AT_ONCE = 256;

  private final CassandraPlace place;
  private final String cql;
  private final SerializableFunction<T, Object[]> values;

  CassandraSink(CassandraPlace place, String cql, SerializableFunction<T, Object[]> values) {
    this.place = place;
    this.cql = cql;
    this.values = values;
  }

  @Override
  public SinkWriter<T> createWriter(InitContext context) {
    return new Writer();
  }

  @Override
  public SinkWriter<T> createWriter(WriterInitContext context) {
    return new Writer();
  }

  private class Writer implements SinkWriter<T> {
    private final CqlSession session = place.open();
    private final PreparedStatement statement = session.prepare(cql);
    private final Semaphore free = new Semaphore(AT_ONCE);
    private final AtomicReference<Throwable> failed = new AtomicReference<>();

    @Override
    public void write(T element, Context context) throws IOException, InterruptedException {
      free.acquire();
      check();
      session.executeAsync(statement.bind(values.apply(element))).whenComplete((done, error) -> {
        if (error != null) failed.compareAndSet(null, error);
        free.release();
      });
    }

    @Override
    public void flush(boolean endOfInput) throws IOException, InterruptedException {
      free.acquire(AT_ONCE);
      free.release(AT_ONCE);
      check();
    }

    @Override
    public void close() {
      session.close();
    }

    private void check() throws IOException {
      if (failed.get() != null) throw new IOException("Cassandra does not store what it was given", failed.get());
    }
  }
}
