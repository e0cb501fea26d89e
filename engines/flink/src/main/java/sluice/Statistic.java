package sluice;

/** Numbers of one field with the same source and tags in one window: those of one batch, or of all that came while the window was open. */
public class Statistic {
  /** Of those that came while the window was open. */
  static final String ALL = "";

  public String source;
  public String tags;
  public String field;
  /** Of the window, milliseconds since 1970. */
  public long start;
  /** Whose numbers these are. */
  public String batch;
  public long count;
  public double sum;
  public double min = Double.POSITIVE_INFINITY;
  public double max = Double.NEGATIVE_INFINITY;

  public Statistic() {}

  public Statistic(String source, String tags, String field, long start, String batch) {
    this.source = source;
    this.tags = tags;
    this.field = field;
    this.start = start;
    this.batch = batch;
  }

  public void add(double value) {
    count++;
    sum += value;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }

  public void add(Statistic other) {
    count += other.count;
    sum += other.sum;
    min = Math.min(min, other.min);
    max = Math.max(max, other.max);
  }

  Statistic copy() {
    Statistic copy = new Statistic(source, tags, field, start, batch);
    copy.add(this);
    return copy;
  }
}
