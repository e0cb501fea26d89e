package sluice;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import java.io.Serializable;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/** A keyspace of a cluster, and how to log in. */
public record CassandraPlace(String host, int port, String datacenter, String keyspace, String user, String password)
    implements Serializable {
  /** A server under load takes its time. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final List<DefaultDriverOption> TIMEOUTS = List.of(
      DefaultDriverOption.REQUEST_TIMEOUT, DefaultDriverOption.CONNECTION_CONNECT_TIMEOUT,
      DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT,
      DefaultDriverOption.METADATA_SCHEMA_REQUEST_TIMEOUT);

  public CqlSession open() {
    ProgrammaticDriverConfigLoaderBuilder config = DriverConfigLoader.programmaticBuilder();
    for (DefaultDriverOption timeout : TIMEOUTS) config = config.withDuration(timeout, PATIENCE);
    CqlSessionBuilder builder = CqlSession.builder().withConfigLoader(config.build())
        .addContactPoint(new InetSocketAddress(host, port)).withLocalDatacenter(datacenter).withKeyspace(keyspace);
    return (user.isEmpty() ? builder : builder.withAuthCredentials(user, password)).build();
  }
}
