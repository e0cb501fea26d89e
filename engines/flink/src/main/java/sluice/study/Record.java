package sluice.study;

import java.util.Arrays;

/** An id of twelve characters, three integers, three doubles and a BLOB. */
record Record(String id, double[] numbers, byte[] blob) {
  private static final int INTEGERS = 3;

  /** After its next change: "simple additions", as in the paper. */
  Record plus(double[] signal, byte[] next) {
    double[] sums = new double[numbers.length];
    for (int i = 0; i < sums.length; i++) sums[i] = i < INTEGERS ? (int) numbers[i] + (int) signal[i] : numbers[i] + signal[i];
    return new Record(id, sums, next);
  }

  boolean isSame(Record other) {
    return id.equals(other.id) && Arrays.equals(numbers, other.numbers) && Arrays.equals(blob, other.blob);
  }
}
