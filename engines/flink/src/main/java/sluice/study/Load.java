package sluice.study;

import java.io.Serializable;

/** What the study asks for: see gateway/bench/studies/weissbach/engines.js. */
public class Load implements Serializable {
  public String database;
  public String host;
  public int port;
  public String user;
  public String password;
  /** Of the database or keyspace. */
  public String name;
  public String pattern;
  public int ids;
  public int clients;
  public long warmUpMs;
  public long limitMs;
  public long maxRecords;
  /** Three integers and three doubles each. */
  public double[][] signals;
  public byte[][] blobs;
}
