package sluice.study;

import java.util.Arrays;

/** What one operator has measured. */
class Run {
  long records;
  long compared;
  long rows;
  long began;
  long ended;
  final Micros reads = new Micros();
  final Micros writes = new Micros();

  double seconds() {
    return (ended - began) / 1e9;
  }

  /** As many as come. */
  static class Micros {
    private int[] values = new int[1024];
    private int count;

    /** What began then has ended now. */
    void add(long from) {
      if (count == values.length) values = Arrays.copyOf(values, 2 * count);
      values[count++] = (int) Math.round((System.nanoTime() - from) / 1000.0);
    }

    int[] all() {
      return Arrays.copyOf(values, count);
    }
  }
}
