"""An edge node made with pysparkplug: `sparkplug_edge.py PORT`. Group "plant", node "cell", device "press" with a metric of every data type the library knows.
It prints "online" once connected, what it is told to write, and does what each line of its input says; a rebirth that a host asks for is given and printed."""
import datetime
import itertools
import json
import sys
import time

import pysparkplug as spb

NOON = 1_700_000_000_000
GROUP, NODE, DEVICE = "plant", "cell", "press"
T = spb.DataType
VALUES = {
    T.INT8: -100, T.INT16: -30_000, T.INT32: -2_000_000_000, T.INT64: -(2**63),
    T.UINT8: 200, T.UINT16: 60_000, T.UINT32: 4_000_000_000, T.UINT64: 2**63 - 1,
    T.FLOAT: 0.5, T.DOUBLE: 1e-300, T.BOOLEAN: True, T.STRING: "grün", T.TEXT: "text",
    T.DATETIME: datetime.datetime.fromtimestamp(NOON / 1000, datetime.timezone.utc),
    T.UUID: "7c9b1f2e-6a83-4a3b-9a38-111111111111", T.BYTES: b"\x00\xff", T.FILE: b"file",
    T.INT8_ARRAY: (-1, 2), T.INT16_ARRAY: (-300, 300), T.INT32_ARRAY: (-70_000, 70_000), T.INT64_ARRAY: (-(2**63), 1),
    T.UINT8_ARRAY: (0, 255), T.UINT16_ARRAY: (0, 65_535), T.UINT32_ARRAY: (0, 2**32 - 1), T.UINT64_ARRAY: (0, 2**63 - 1),
    T.FLOAT_ARRAY: (0.5, -0.5), T.DOUBLE_ARRAY: (0.1, -0.1),
    T.BOOLEAN_ARRAY: (False, False, True, True, False, True, False, False, True, True, False, True),
    T.STRING_ARRAY: ("ABC", "grün"), T.DATETIME_ARRAY: (datetime.datetime.fromtimestamp(NOON / 1000, datetime.timezone.utc),),
}
ALIASES = {datatype: 100 + datatype for datatype in VALUES}


def metric(datatype, value, ms=NOON, by_alias=False, **more):
    name = None if by_alias else f"all/{datatype.name}"
    return spb.Metric(timestamp=ms, name=name, alias=ALIASES[datatype], datatype=datatype, value=value, **more)


def shown(_, message):
    print(json.dumps([[m.name, m.datatype.name, m.value] for m in message.payload.metrics]), flush=True)


seqs = itertools.cycle(range(256))
device = spb.Device(DEVICE, metrics=[metric(datatype, value) for datatype, value in VALUES.items()], cmd_callback=shown)
client = spb.Client()


def publish(message_type, device_id, payload, include_dtypes=False):
    topic = spb.Topic(message_type=message_type, group_id=GROUP, edge_node_id=NODE, device_id=device_id)
    client.publish(spb.Message(topic=topic, payload=payload, qos=spb.QoS.AT_MOST_ONCE, retain=False), include_dtypes=include_dtypes)


def on_command(edge, message):
    if not any(m.name == "Node Control/Rebirth" and m.value for m in message.payload.metrics):
        return shown(edge, message)
    seq = itertools.cycle(range(256))
    edge._EdgeNode__seq_cycler = seq
    node_metrics = (*edge.metrics.values(), bd_seq(edge))
    publish(spb.MessageType.NBIRTH, None, spb.NBirth(timestamp=NOON, seq=next(seq), metrics=node_metrics))
    publish(spb.MessageType.DBIRTH, DEVICE, spb.DBirth(timestamp=NOON, seq=next(seq), metrics=tuple(device.metrics.values())))
    print("reborn", flush=True)


def bd_seq(edge):
    """Of the running session: the library has already prepared the next."""
    return spb.Metric(timestamp=NOON, name="bdSeq", datatype=T.INT64, value=edge._bd_seq_metric.value - 1)


edge = spb.EdgeNode(GROUP, NODE, metrics=[spb.Metric(timestamp=NOON, name="load", datatype=T.DOUBLE, value=0.25)], client=client, cmd_callback=on_command)
edge.register(device)
edge.connect("127.0.0.1", port=int(sys.argv[1]))
while not edge._connected:
    time.sleep(0.005)
print("online", flush=True)

for line in sys.stdin:
    command = json.loads(line)
    if "double" in command:  # by alias alone, without its type
        publish(spb.MessageType.DDATA, DEVICE, spb.DData(timestamp=command["ms"], seq=edge._seq, metrics=(metric(T.DOUBLE, command["double"], command["ms"], by_alias=True),)))
    if "historical" in command:
        publish(spb.MessageType.DDATA, DEVICE, spb.DData(timestamp=command["ms"], seq=edge._seq, metrics=(metric(T.DOUBLE, command["historical"], command["ms"], by_alias=True, is_historical=True),)))
    if "null" in command:
        publish(spb.MessageType.DDATA, DEVICE, spb.DData(timestamp=command["ms"], seq=edge._seq, metrics=(metric(T.DOUBLE, None, command["ms"], is_null=True),)))
    if "skip" in command:
        for _ in range(command["skip"]):
            edge._seq
    if "load" in command:
        edge.update([spb.Metric(timestamp=command["ms"], name="load", datatype=T.DOUBLE, value=command["load"])])
    if "deregister" in command:
        edge.deregister(DEVICE)
    if "disconnect" in command:
        edge.disconnect()
