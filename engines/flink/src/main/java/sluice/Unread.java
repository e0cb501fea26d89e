package sluice;

/** A record that is no batch, with the reason: it stops nothing, and does not get lost. */
public class Unread {
  public String batch;
  public String reason;
  public byte[] value;

  public Unread() {}

  public Unread(Block block, String reason) {
    batch = block.batch;
    value = block.value;
    this.reason = reason;
  }
}
