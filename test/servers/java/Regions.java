import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;

/** Takes the regions of a table of HBase away from their servers (unassign), or gives them back (assign). */
public class Regions {
  public static void main(String[] arguments) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(); Admin admin = connection.getAdmin()) {
      for (RegionInfo region : admin.getRegions(TableName.valueOf(arguments[1]))) {
        if (arguments[0].equals("assign")) admin.assign(region.getRegionName());
        else admin.unassign(region.getRegionName(), true);
      }
    }
  }
}
