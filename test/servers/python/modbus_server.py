"""A pymodbus server: its options are one argument of JSON, it says "ready", and how many requests have come to each line "requests"."""
import asyncio
import json
import sys

from pymodbus import FramerType
from pymodbus.server import ModbusSerialServer, ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

options = json.loads(sys.argv[1])
contents = options["contents"]
requests = 0


def bits(area):
    return [SimData(0, values=[bool(bit) for bit in contents[area]], datatype=DataType.BITS)]


def registers(area):
    return [SimData(0, values=contents[area], datatype=DataType.REGISTERS)]


def trace(sending, pdu):
    global requests
    if not sending:
        requests += 1
    return pdu


async def main():
    devices = [
        SimDevice(unit, simdata=(bits("coils"), bits("discrete-inputs"), registers("holding-registers"), registers("input-registers")))
        for unit in options["units"]
    ]
    common = {"trace_pdu": trace, "ignore_missing_devices": True}
    if options["transport"] == "serial":
        server = ModbusSerialServer(devices, framer=FramerType.RTU, port=options["path"], baudrate=115200, parity="N", **common)
    else:
        framer = FramerType.RTU if options["transport"] == "rtu-over-tcp" else FramerType.SOCKET
        server = ModbusTcpServer(devices, framer=framer, address=("127.0.0.1", options["port"]), **common)
    await server.serve_forever(background=True)
    print("ready")

    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(requests)


asyncio.run(main())
