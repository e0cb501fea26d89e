package sluice;

import java.io.IOException;
import java.time.Duration;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Blocks to rows and statistics, by batch: one that comes again, as staged batches may, is left out for a while. What came to Kafka when
 * its window was no longer open is a statistic of its own. That is decided by times which are the same whenever it is read.
 */
public class Decode extends KeyedProcessFunction<String, Block, Row> {
  static final OutputTag<Statistic> IN_TIME = new OutputTag<>("in time") {};
  static final OutputTag<Statistic> LATE = new OutputTag<>("late") {};
  static final OutputTag<Unread> UNREAD = new OutputTag<>("unread") {};

  private final long windowMs;
  private final long openMs;
  private transient ValueState<Boolean> seen;

  /** @param open  how long a window is, since its begin */
  public Decode(Duration window, Duration open) {
    windowMs = window.toMillis();
    openMs = open.toMillis();
  }

  @Override
  public void open(OpenContext context) {
    ValueStateDescriptor<Boolean> descriptor = new ValueStateDescriptor<>("seen", Boolean.class);
    descriptor.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofMillis(openMs)).build());
    seen = getRuntimeContext().getState(descriptor);
  }

  @Override
  public void processElement(Block block, Context context, Collector<Row> out) throws IOException {
    if (seen.value() != null) return;
    seen.update(true);
    ArrowBatch batch;
    try {
      batch = new ArrowBatch(block, windowMs);
    } catch (IOException reason) {
      context.output(UNREAD, new Unread(block, reason.getMessage()));
      return;
    }
    batch.rows.forEach(out::collect);
    for (Statistic statistic : batch.statistics()) {
      context.output(statistic.start + openMs <= context.timestamp() ? LATE : IN_TIME, statistic);
    }
  }
}
