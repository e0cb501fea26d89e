package sluice;

import java.io.FileInputStream;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.api.java.utils.ParameterTool;

/**
 * Sluice's batches from a topic of Kafka to rows and windowed statistics in PostgreSQL, Cassandra or both, each exactly once: what has been
 * read and added up is in checkpoints, and what is stored again after one has the same key. See README.md.
 */
public class Job {
  /** Records have the time of their arrival in Kafka: so much may those of several producers be out of order. */
  private static final Duration DISORDER = Duration.ofHours(1);

  private Job() {}

  public static void main(String[] args) throws Exception {
    ParameterTool options = ParameterTool.fromArgs(args);
    Duration window = Duration.ofSeconds(options.getLong("window-seconds", 60));
    Duration open = window.plusSeconds(options.getLong("open-seconds", 86_400));

    if (!options.has("postgresql") && !options.has("cassandra")) {
      throw new IllegalArgumentException("--postgresql or --cassandra is missing");
    }

    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(configuration(options));
    environment.getConfig().enableObjectReuse(); // nothing changes what it has handed on

    SingleOutputStreamOperator<Row> rows = environment
        .fromSource(source(options), WatermarkStrategy.<Block>forBoundedOutOfOrderness(DISORDER).withIdleness(DISORDER), "Kafka")
        .uid("kafka")
        .keyBy(block -> block.batch)
        .process(new Decode(window, open)).name("Decode").uid("decode");
    DataStream<Unread> unread = rows.getSideOutput(Decode.UNREAD);
    DataStream<Statistic> windows = rows.getSideOutput(Decode.IN_TIME)
        .keyBy(its -> Tuple4.of(its.source, its.tags, its.field, its.start),
            Types.TUPLE(Types.STRING, Types.STRING, Types.STRING, Types.LONG))
        .process(new Windows<>(open)).name("Windows").uid("windows")
        .union(rows.getSideOutput(Decode.LATE));

    if (options.has("postgresql")) {
      Postgresql postgresql = postgresql(URI.create(options.get("postgresql")));
      postgresql.prepare();
      rows.sinkTo(postgresql.rows()).name("PostgreSQL rows").uid("postgresql-rows");
      windows.sinkTo(postgresql.windows()).name("PostgreSQL windows").uid("postgresql-windows");
      unread.sinkTo(postgresql.unread()).name("PostgreSQL unread").uid("postgresql-unread");
    }
    if (options.has("cassandra")) {
      Cassandra cassandra = cassandra(URI.create(options.get("cassandra")), options.get("datacenter", "datacenter1"));
      cassandra.prepare();
      rows.sinkTo(cassandra.rows()).name("Cassandra rows").uid("cassandra-rows");
      windows.sinkTo(cassandra.windows()).name("Cassandra windows").uid("cassandra-windows");
      unread.sinkTo(cassandra.unread()).name("Cassandra unread").uid("cassandra-unread");
    }
    environment.execute("Sluice: " + options.get("topic"));
  }

  private static KafkaSource<Block> source(ParameterTool options) throws Exception {
    Properties kafka = new Properties();
    if (options.has("kafka-properties")) {
      try (InputStream file = new FileInputStream(options.get("kafka-properties"))) {
        kafka.load(file);
      }
    }
    return KafkaSource.<Block>builder()
        .setProperties(kafka)
        .setBootstrapServers(options.getRequired("kafka"))
        .setTopics(options.getRequired("topic"))
        .setProperty("isolation.level", "read_committed")
        .setProperty("partition.discovery.interval.ms", "60000")
        .setStartingOffsets(OffsetsInitializer.earliest())
        .setDeserializer(new BlockReader())
        .build();
  }

  /** A job of its own process goes on from its newest checkpoint; that of a cluster is told by the cluster. */
  private static Configuration configuration(ParameterTool options) throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(options.getLong("checkpoint-seconds", 10)));
    configuration.set(CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION, ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    if (options.has("checkpoints")) {
      String folder = options.get("checkpoints");
      configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, "file://" + Path.of(folder).toAbsolutePath());
      configuration.set(RestOptions.BIND_ADDRESS, "127.0.0.1");
      Checkpoints.newest(folder).ifPresent(newest -> configuration.set(StateRecoveryOptions.SAVEPOINT_PATH, newest));
    }
    return configuration;
  }

  private static Postgresql postgresql(URI url) {
    String[] login = login(url, "POSTGRESQL_PASSWORD");
    int port = url.getPort() == -1 ? 5432 : url.getPort();
    return new Postgresql("jdbc:postgresql://" + url.getHost() + ":" + port + url.getPath(), login[0], login[1]);
  }

  private static Cassandra cassandra(URI url, String datacenter) {
    String[] login = login(url, "CASSANDRA_PASSWORD");
    int port = url.getPort() == -1 ? 9042 : url.getPort();
    return new Cassandra(url.getHost(), port, datacenter, url.getPath().substring(1), login[0], login[1]);
  }

  /** The password is in the environment, where no list of processes shows it. */
  private static String[] login(URI url, String variable) {
    String user = url.getUserInfo() == null ? "" : url.getUserInfo();
    String password = System.getenv(variable);
    return new String[] { user, password == null ? "" : password };
  }
}
