"""A host made with pysparkplug: `sparkplug_host.py PORT`. It prints each message it understands as a line of JSON, after "listening", and asks for the rebirth of the node that a line of its input names."""
import datetime
import json
import sys

import pysparkplug as spb

client = spb.Client()


def plain(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime.datetime):
        return int(value.timestamp() * 1000)
    return str(value) if isinstance(value, int) and abs(value) > 2**53 else value


def on_message(_client, message):
    topic, payload = message.topic, message.payload
    if topic.message_type in (spb.MessageType.NCMD, spb.MessageType.STATE):
        return
    metrics = getattr(payload, "metrics", None) or ([payload.bd_seq_metric] if hasattr(payload, "bd_seq_metric") else [])
    print(json.dumps({
        "type": topic.message_type.value, "node": topic.edge_node_id, "device": topic.device_id, "seq": getattr(payload, "seq", None),
        "metrics": [{"name": m.name, "alias": m.alias, "type": m.datatype.name, "value": plain(m.value),
                     "ms": m.timestamp, "null": m.is_null, "historical": m.is_historical} for m in metrics],
    }), flush=True)


client.subscribe(spb.Topic(group_id="#"), spb.QoS.AT_LEAST_ONCE, on_message)
client.connect("127.0.0.1", port=int(sys.argv[1]), callback=lambda _: print("listening", flush=True))

for line in sys.stdin:
    group, node = json.loads(line)
    topic = spb.Topic(message_type=spb.MessageType.NCMD, group_id=group, edge_node_id=node)
    rebirth = spb.Metric(timestamp=spb.get_current_timestamp(), name="Node Control/Rebirth", datatype=spb.DataType.BOOLEAN, value=True)
    client.publish(spb.Message(topic=topic, payload=spb.NCmd(timestamp=spb.get_current_timestamp(), metrics=(rebirth,)), qos=spb.QoS.AT_MOST_ONCE, retain=False), include_dtypes=True)
