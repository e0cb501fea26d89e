package sluice;

import java.io.ByteArrayInputStream;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Names each record: by the identity of its batch, which is in the schema's metadata, otherwise by its place in the topic. */
public class BlockReader implements KafkaRecordDeserializationSchema<Block> {
  @Override
  public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<Block> out) {
    if (record.value() == null) return; // what a compacted topic has deleted
    String identity = identityOf(record.value());
    // A topic that was deleted and made again counts its records anew, at another time.
    String place = named(record.topic(), String.valueOf(record.partition()), String.valueOf(record.offset()),
        String.valueOf(record.timestamp()));
    out.collect(new Block(identity == null ? place : identity, record.value()));
  }

  @Override
  public TypeInformation<Block> getProducedType() {
    return TypeInformation.of(Block.class);
  }

  /** Null of what has none: not every record is a whole batch, nor is everything in a topic one of Sluice's. */
  static String identityOf(byte[] value) {
    try (BufferAllocator allocator = ArrowBatch.allocatorFor(value);
        ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(value), allocator)) {
      Map<String, String> metadata = reader.getVectorSchemaRoot().getSchema().getCustomMetadata();
      if (!metadata.containsKey("sluice.seq") || !metadata.containsKey("sluice.epoch")) return null;
      return named(metadata.get("sluice.gateway"), metadata.get("sluice.source"), metadata.get("sluice.epoch"),
          String.valueOf(Long.parseLong(metadata.get("sluice.seq"))));
    } catch (Exception | AssertionError | OutOfMemoryError notArrow) {
      return null; // told where it is decoded
    }
  }

  private static String named(String... parts) {
    return Stream.of(parts).map(part -> String.valueOf(part).replace("%", "%25").replace("/", "%2F")).collect(Collectors.joining("/"));
  }
}
