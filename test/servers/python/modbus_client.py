"""A master on pymodbus: its options are one argument of JSON; to each line, a request in JSON, it answers with what came of it, and what pymodbus said meanwhile."""
import json
import logging
import sys
import time

from pymodbus import FramerType
from pymodbus.client import ModbusSerialClient, ModbusTcpClient
from pymodbus.exceptions import ModbusException

options = json.loads(sys.argv[1])
said = []


class Ear(logging.Handler):
    def emit(self, record):
        said.append(record.getMessage())


logger = logging.getLogger("pymodbus.logging")
logger.setLevel(logging.DEBUG)
logger.propagate = False
logger.addHandler(Ear())

common = {"timeout": options["timeoutMs"] / 1000, "retries": 0}
if options["transport"] == "serial":
    client = ModbusSerialClient(options["path"], baudrate=115200, **common)
else:
    framer = FramerType.SOCKET if options["transport"] == "tcp" else FramerType.RTU
    client = ModbusTcpClient("127.0.0.1", port=options["port"], framer=framer, **common)

READ = {
    "coils": client.read_coils,
    "discrete-inputs": client.read_discrete_inputs,
    "holding-registers": client.read_holding_registers,
    "input-registers": client.read_input_registers,
}
WRITE_ONE = {"coils": client.write_coil, "holding-registers": client.write_register}
WRITE_SEVERAL = {"coils": client.write_coils, "holding-registers": client.write_registers}


def ask(request):
    area, address, unit = request["area"], request["address"], request.get("unit", 1)
    if "count" in request:
        reply = READ[area](address, count=request["count"], device_id=unit)
    elif isinstance(request["values"], list):
        reply = WRITE_SEVERAL[area](address, request["values"], device_id=unit, no_response_expected=unit == 0)
    else:
        reply = WRITE_ONE[area](address, request["values"], device_id=unit)
    if reply is None:
        return {"values": []}
    if reply.isError():
        return {"exception": reply.exception_code}
    values = reply.bits if area in ("coils", "discrete-inputs") else reply.registers
    return {"values": [int(value) for value in values][: request.get("count")]}


client.connect()
print("ready")
for line in sys.stdin:
    said.clear()
    began = time.monotonic()
    try:
        result = ask(json.loads(line))
    except ModbusException as error:
        result = {"error": type(error).__name__, "text": str(error)}
    except Exception as error:
        result = {"error": "otherwise", "text": f"{type(error).__name__}: {error}"}
    print(json.dumps({**result, "said": said, "tookMs": (time.monotonic() - began) * 1000}))
