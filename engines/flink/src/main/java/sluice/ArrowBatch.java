package sluice;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * What is in a block: its rows, and the statistics of its numbers. Tags that all rows have are in the schema's metadata, those that differ
 * are columns, which their field's metadata says.
 */
class ArrowBatch {
  final List<Row> rows = new ArrayList<>();
  private final Map<String, Statistic> statistics = new HashMap<>();
  private final Block block;
  private final long windowMs;
  private String source;

  /** @throws IOException where it is none, or has a text that PostgreSQL could not hold */
  ArrowBatch(Block block, long windowMs) throws IOException {
    this.block = block;
    this.windowMs = windowMs;
    try (BufferAllocator allocator = allocatorFor(block.value);
        ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(block.value), allocator)) {
      Map<String, String> metadata = reader.getVectorSchemaRoot().getSchema().getCustomMetadata();
      source = metadata.get("sluice.source");
      if (source == null) throw new IOException("it names no source");
      Map<String, String> constant = Json.texts(metadata.getOrDefault("sluice.tags", "{}"));
      while (reader.loadNextBatch()) read(reader, constant);
    } catch (RuntimeException | AssertionError | OutOfMemoryError damaged) {
      throw new IOException("it cannot be read: " + damaged, damaged);
    }
  }

  /** Of no more than a record can have in it, whatever it says. */
  static BufferAllocator allocatorFor(byte[] value) {
    return new RootAllocator(4L * value.length + (1 << 20));
  }

  Iterable<Statistic> statistics() {
    return statistics.values();
  }

  private void read(ArrowStreamReader reader, Map<String, String> constant) throws IOException {
    TimeStampVector times = null;
    List<FieldVector> fields = new ArrayList<>();
    Map<String, FieldVector> tagColumns = new TreeMap<>();
    for (FieldVector vector : reader.getVectorSchemaRoot().getFieldVectors()) {
      Field field = vector.getField();
      Map<String, String> its = field.getMetadata();
      if (its.containsKey("sluice.ordinal")) continue;
      if (its.containsKey("sluice.tag")) tagColumns.put(its.get("sluice.tag"), vector);
      else if (field.getName().equals("time") && vector instanceof TimeStampVector) times = (TimeStampVector) vector;
      else fields.add(vector);
    }
    if (times == null) throw new IOException("it has no column time");
    String alike = Json.object(new TreeMap<>(constant));
    int first = rows.size();
    for (int i = 0; i < reader.getVectorSchemaRoot().getRowCount(); i++) {
      String tags = tagColumns.isEmpty() ? alike : tagsAt(i, constant, tagColumns, reader);
      long time = times.get(i);
      rows.add(new Row(block.batch, first + i, source, time, tags, fieldsAt(i, fields, tags, time)));
    }
  }

  private static String tagsAt(int i, Map<String, String> constant, Map<String, FieldVector> columns, ArrowStreamReader reader)
      throws IOException {
    Map<String, Object> tags = new TreeMap<>(constant);
    for (Map.Entry<String, FieldVector> column : columns.entrySet()) {
      Object value = column.getValue().getObject(i);
      DictionaryEncoding encoding = column.getValue().getField().getDictionary();
      if (value != null && encoding != null) {
        value = reader.getDictionaryVectors().get(encoding.getId()).getVector().getObject(((Number) value).intValue());
      }
      if (value != null) tags.put(column.getKey(), value.toString());
    }
    return Json.object(tags);
  }

  /** As JSON; what is a number counts. */
  private String fieldsAt(int i, List<FieldVector> fields, String tags, long time) throws IOException {
    long start = Math.floorDiv(Math.floorDiv(time, 1_000_000L), windowMs) * windowMs;
    Map<String, Object> values = new LinkedHashMap<>();
    for (FieldVector field : fields) {
      Object value = field.getObject(i);
      if (value == null) continue;
      if (value instanceof Character) value = (int) (Character) value; // so Arrow has unsigned numbers of 16 bits
      values.put(field.getName(), value);
      if (value instanceof Number) statistic(tags, field.getName(), start).add(((Number) value).doubleValue());
    }
    return Json.object(values);
  }

  private Statistic statistic(String tags, String field, long start) {
    return statistics.computeIfAbsent(start + " " + field + " " + tags, key -> new Statistic(source, tags, field, start, block.batch));
  }
}
