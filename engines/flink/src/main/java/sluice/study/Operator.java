package sluice.study;

import java.sql.SQLException;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.util.Collector;

/**
 * Reads the record of a message by its key, adds what came, and replaces it, or what of that the pattern has; one message after the other,
 * with keys and a connection of its own. Each read is compared with what was written last.
 */
class Operator extends RichFlatMapFunction<Long, Void> {
  /** Of all operators, which are in one process. */
  static final Queue<Run> RUNS = new ConcurrentLinkedQueue<>();
  static final Map<Integer, Boolean> DONE = new ConcurrentHashMap<>();
  private static CyclicBarrier allAreFilled;

  private final Load load;
  private transient Store store;
  private transient Ledger ledger;
  private transient SplittableRandom random;
  private transient Run run;
  private transient int client;
  private transient long signals;
  private transient long measuredFrom;
  private transient long until;

  Operator(Load load) {
    this.load = load;
  }

  static void prepare(Load load) {
    allAreFilled = new CyclicBarrier(load.clients);
  }

  @Override
  public void open(OpenContext context) throws Exception {
    client = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    random = new SplittableRandom(client);
    store = Store.open(load);
    ledger = new Ledger(load, client);
    for (int place = 0; place < ledger.known(); place++) write(place, ledger.first(place));
    allAreFilled.await();
    run = new Run();
    measuredFrom = System.nanoTime() + load.warmUpMs * 1_000_000;
    until = measuredFrom + load.limitMs * 1_000_000;
  }

  @Override
  public void flatMap(Long message, Collector<Void> out) throws SQLException {
    long now = System.nanoTime();
    if (now >= until || run.records >= load.maxRecords) {
      DONE.put(client, true);
      return;
    }
    boolean isMeasured = now >= measuredFrom;
    if (isMeasured && run.records == 0) run.began = now;
    boolean isNew = load.pattern.equals("insert") || (load.pattern.equals("mixed") && random.nextBoolean());
    int place = isNew ? Ledger.NEW : random.nextInt(ledger.known());
    double[] signal = load.signals[(int) (signals++ % load.signals.length)];
    Record record = load.pattern.equals("insert") ? null : read(place, isMeasured);
    if (!load.pattern.equals("read")) {
      Record changed = record == null ? ledger.fresh(signal) : record.plus(signal, ledger.nextBlob(place));
      long from = System.nanoTime();
      write(place, changed);
      if (isMeasured) run.writes.add(from);
    }
    if (!isMeasured) return;
    run.records++;
    run.ended = System.nanoTime();
  }

  @Override
  public void close() throws SQLException {
    if (store == null) return;
    if (run != null) {
      for (int place = 0; place < ledger.known(); place += Math.max(1, ledger.known() / 1000)) read(place, false);
      run.rows = ledger.known() + ledger.made();
      RUNS.add(run);
    }
    store.close();
    store = null;
  }

  private Record read(int place, boolean isMeasured) throws SQLException {
    long from = System.nanoTime();
    Record found = store.read(ledger.id(place));
    if (isMeasured) run.reads.add(from);
    if (!ledger.isExpected(place, found)) throw new IllegalStateException("A read of " + ledger.id(place) + " returned something else");
    run.compared++;
    return found;
  }

  private void write(int place, Record record) throws SQLException {
    store.write(record);
    ledger.stored(place, record);
  }
}
