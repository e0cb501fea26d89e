"""A master on libmodbus: its options are one argument of JSON; to each line, a request in JSON, it answers with what came of it."""
import ctypes
import json
import os
import sys
import time

library = ctypes.CDLL("libmodbus.so.5", use_errno=True)
pointer = ctypes.c_void_p
library.modbus_new_tcp.restype = pointer
library.modbus_new_rtu.restype = pointer
library.modbus_new_rtu.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char, ctypes.c_int, ctypes.c_int]
library.modbus_strerror.restype = ctypes.c_char_p
library.modbus_connect.argtypes = [pointer]
library.modbus_set_slave.argtypes = [pointer, ctypes.c_int]
library.modbus_set_response_timeout.argtypes = [pointer, ctypes.c_uint32, ctypes.c_uint32]
FIRST_EXCEPTION = 112345678  # MODBUS_ENOBASE: errno of an exception is this and its code

options = json.loads(sys.argv[1])
if options["transport"] == "serial":
    context = library.modbus_new_rtu(options["path"].encode(), 115200, b"N", 8, 1)
else:
    context = library.modbus_new_tcp(b"127.0.0.1", options["port"])
library.modbus_set_response_timeout(context, options["timeoutMs"] // 1000, options["timeoutMs"] % 1000 * 1000)

BITS = ("coils", "discrete-inputs")
READ = {
    "coils": library.modbus_read_bits,
    "discrete-inputs": library.modbus_read_input_bits,
    "holding-registers": library.modbus_read_registers,
    "input-registers": library.modbus_read_input_registers,
}
WRITE_ONE = {"coils": library.modbus_write_bit, "holding-registers": library.modbus_write_register}
WRITE_SEVERAL = {"coils": library.modbus_write_bits, "holding-registers": library.modbus_write_registers}
for function in [*READ.values(), *WRITE_SEVERAL.values()]:
    function.argtypes = [pointer, ctypes.c_int, ctypes.c_int, pointer]
for function in WRITE_ONE.values():
    function.argtypes = [pointer, ctypes.c_int, ctypes.c_int]


def ask(request):
    area, address = request["area"], request["address"]
    library.modbus_set_slave(context, request.get("unit", 1))
    cell = ctypes.c_uint8 if area in BITS else ctypes.c_uint16
    if "count" in request:
        values = (cell * request["count"])()
        done = READ[area](context, address, request["count"], values)
    elif isinstance(request["values"], list):
        values = (cell * len(request["values"]))(*request["values"])
        done = WRITE_SEVERAL[area](context, address, len(values), values)
    else:
        values = []
        done = WRITE_ONE[area](context, address, request["values"])
    if done >= 0:
        return {"values": list(values) if "count" in request else []}
    code = ctypes.get_errno() - FIRST_EXCEPTION
    if 0 < code < 12:
        return {"exception": code}
    return {"error": library.modbus_strerror(ctypes.get_errno()).decode()}


if library.modbus_connect(context) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
print("ready")
for line in sys.stdin:
    began = time.monotonic()
    result = ask(json.loads(line))
    print(json.dumps({**result, "said": [], "tookMs": (time.monotonic() - began) * 1000}))
