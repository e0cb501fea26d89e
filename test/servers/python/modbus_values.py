"""Values as Python's struct module packs them into registers: JSON, of {type, order, value, registers}, value as text."""
import json
import struct

# The most significant byte first.
PACKED = [
    ("int16", ">h", [-32768, -2, 32767]),
    ("uint16", ">H", [0, 0x1234, 65535]),
    ("int32", ">i", [-(2**31), -2, 305419896]),
    ("uint32", ">I", [0, 0x12345678, 2**32 - 1]),
    ("int64", ">q", [-(2**63), -2, 0x123456789ABCDEF0]),
    ("uint64", ">Q", [0, 0x123456789ABCDEF0, 2**63 - 1]),
    ("float32", ">f", [1.5, -0.15625, 123456.0]),
    ("float64", ">d", [3.141592653589793, -1e300, 5e-324]),
]

# Which bytes of ABCD, of AB, and of ABCDEFGH come first, by order.
ORDERS = {
    "ABCD": lambda data: data,
    "CDAB": lambda data: b"".join(reversed(words(data))),
    "BADC": lambda data: b"".join(word[::-1] for word in words(data)),
    "DCBA": lambda data: data[::-1],
}


def words(data):
    return [data[i:i + 2] for i in range(0, len(data), 2)]


def registers(data):
    return list(struct.unpack(f">{len(data) // 2}H", data))


def vectors():
    for name, pattern, values in PACKED:
        for value in values:
            for order, arrange in ORDERS.items():
                yield {"type": name, "order": order, "value": repr(value), "registers": registers(arrange(struct.pack(pattern, value)))}
    for digits, name in ((4, "bcd16"), (8, "bcd32")):
        value = 12345678 % 10**digits
        for order, arrange in ORDERS.items():
            yield {"type": name, "order": order, "value": str(value), "registers": registers(arrange(bytes.fromhex(str(value))))}
    for order, text in (("ABCD", "Pumpe 7"), ("CDAB", "Pumpe 7"), ("BADC", "uPpm e7"), ("DCBA", "uPpm e7")):
        swapped = text if order in ("ABCD", "CDAB") else "uPpm e\0" + "7"
        yield {"type": "string", "order": order, "value": "Pumpe 7", "registers": registers(swapped.encode("latin-1").ljust(8, b"\0"))}


print(json.dumps(list(vectors())))
