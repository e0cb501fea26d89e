package sluice;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/** The checkpoints in a folder, of all processes that have run there. */
class Checkpoints {
  private static final String PREFIX = "chk-";

  private Checkpoints() {}

  /** The one with the greatest number: each process counts on from that which it began with. */
  static Optional<String> newest(String folder) throws IOException {
    if (!Files.isDirectory(Path.of(folder))) return Optional.empty();
    try (Stream<Path> files = Files.walk(Path.of(folder), 3)) {
      return files
          .filter(file -> file.getFileName().toString().equals("_metadata")) // written last
          .map(Path::getParent)
          .filter(checkpoint -> checkpoint.getFileName().toString().startsWith(PREFIX))
          .max(Comparator.comparingLong(checkpoint -> Long.parseLong(checkpoint.getFileName().toString().substring(PREFIX.length()))))
          .map(checkpoint -> "file://" + checkpoint.toAbsolutePath());
    }
  }
}
