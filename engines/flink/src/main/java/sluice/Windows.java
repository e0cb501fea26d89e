package sluice;

import java.time.Duration;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Adds up what belongs to one window, and says at most once a second what there is so far: who stores it replaces what was said before.
 * Once the watermark has passed the time for which a window is open, it is forgotten.
 */
public class Windows<K> extends KeyedProcessFunction<K, Statistic, Statistic> {
  private static final long EVERY_MS = 1000;

  private final long openMs;
  private transient ValueState<Statistic> window;

  /** @param open  since its begin */
  public Windows(Duration open) {
    openMs = open.toMillis();
  }

  @Override
  public void open(OpenContext context) {
    window = getRuntimeContext().getState(new ValueStateDescriptor<>("window", Statistic.class));
  }

  @Override
  public void processElement(Statistic statistic, Context context, Collector<Statistic> out) throws Exception {
    Statistic all = window.value();
    if (all == null) all = new Statistic(statistic.source, statistic.tags, statistic.field, statistic.start, Statistic.ALL);
    all.add(statistic);
    window.update(all);
    TimerService timers = context.timerService();
    timers.registerEventTimeTimer(statistic.start + openMs);
    timers.registerProcessingTimeTimer((timers.currentProcessingTime() / EVERY_MS + 1) * EVERY_MS);
  }

  @Override
  public void onTimer(long time, OnTimerContext context, Collector<Statistic> out) throws Exception {
    Statistic all = window.value();
    if (all == null) return;
    out.collect(all.copy());
    if (context.timeDomain() == TimeDomain.EVENT_TIME) window.clear();
  }
}
