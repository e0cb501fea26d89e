package sluice.study;

import java.util.Locale;

/** What the database has to hold of the ids of one client, which nobody else has. */
class Ledger {
  /** A place, of the next new id. */
  static final int NEW = -1;

  private final Load load;
  private final int client;
  private final Record[] records;
  private final int[] times;
  private int made;

  Ledger(Load load, int client) {
    this.load = load;
    this.client = client;
    int known = Math.max(0, (load.ids - client + load.clients - 1) / load.clients);
    records = new Record[known];
    times = new int[known];
  }

  int known() {
    return records.length;
  }

  int made() {
    return made;
  }

  String id(int place) {
    if (place != NEW) return String.format("U%011d", place * load.clients + client);
    return String.format("N%2s%09d", Integer.toString(client, 36), made).replace(' ', '0').toUpperCase(Locale.ROOT);
  }

  Record first(int place) {
    return new Record(id(place), load.signals[place % load.signals.length], blob(1));
  }

  Record fresh(double[] signal) {
    return new Record(id(NEW), signal, blob(1));
  }

  byte[] nextBlob(int place) {
    return blob(times[place] + 1);
  }

  void stored(int place, Record record) {
    if (place == NEW) {
      made++;
    } else {
      times[place]++;
      records[place] = new Record(record.id(), record.numbers(), null);
    }
  }

  boolean isExpected(int place, Record found) {
    if (place == NEW || found == null) return place == NEW && found == null;
    return found.isSame(new Record(records[place].id(), records[place].numbers(), blob(times[place])));
  }

  private byte[] blob(int times) {
    return load.blobs[times % load.blobs.length];
  }
}
