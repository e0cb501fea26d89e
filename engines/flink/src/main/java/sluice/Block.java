package sluice;

/** A record of the topic: an Arrow stream, which is a batch of Sluice or a part of one. */
public class Block {
  /** What it is known by, wherever and however often it comes. */
  public String batch;
  public byte[] value;

  public Block() {}

  public Block(String batch, byte[] value) {
    this.batch = batch;
    this.value = value;
  }
}
