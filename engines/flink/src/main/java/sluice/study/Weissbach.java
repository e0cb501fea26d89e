package sluice.study;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.source.RichParallelSourceFunction;

/** Databases inside stream processing: a file of JSON has the load, what was measured is printed. Generator and operator are one job. */
public class Weissbach {
  private Weissbach() {}

  public static void main(String[] args) throws Exception {
    ObjectMapper json = new ObjectMapper();
    Load load = json.readValue(new File(args[0]), Load.class);
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    environment.setParallelism(load.clients);
    environment.getConfig().enableObjectReuse();
    try (Store store = Store.open(load)) {
      Operator.prepare(load);
      environment.addSource(new Messages()).flatMap(new Operator(load)).sinkTo(new DiscardingSink<>());
      environment.execute("Weissbach");
      long rows = store.count();
      store.remove();
      List<Map<String, Object>> runs = Operator.RUNS.stream().map(run -> Map.<String, Object>of(
          "records", run.records, "seconds", run.seconds(), "rows", run.rows, "compared", run.compared,
          "readMicroseconds", run.reads.all(), "writeMicroseconds", run.writes.all())).collect(Collectors.toList());
      System.out.println(json.writeValueAsString(Map.of("count", rows, "runs", runs)));
    }
  }

  /** Messages until the operator behind it has done its part. */
  private static class Messages extends RichParallelSourceFunction<Long> {
    private volatile boolean isRunning = true;

    @Override
    public void run(SourceContext<Long> context) {
      int client = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
      for (long n = 0; isRunning && !Operator.DONE.containsKey(client); n++) {
        synchronized (context.getCheckpointLock()) {
          context.collect(n);
        }
      }
    }

    @Override
    public void cancel() {
      isRunning = false;
    }
  }
}
