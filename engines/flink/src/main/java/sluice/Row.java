package sluice;

/** A row of a batch. Tags and fields are objects of JSON, as each source has its own. */
public class Row {
  public String batch;
  public int row;
  public String source;
  /** Nanoseconds since 1970. */
  public long time;
  public String tags;
  public String fields;

  public Row() {}

  public Row(String batch, int row, String source, long time, String tags, String fields) {
    this.batch = batch;
    this.row = row;
    this.source = source;
    this.time = time;
    this.tags = tags;
    this.fields = fields;
  }
}
