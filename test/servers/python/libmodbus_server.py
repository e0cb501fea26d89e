"""A libmodbus server: its options are one argument of JSON, it says "ready", and how many requests have come to each line "requests"."""
import ctypes
import json
import os
import select
import sys

AREAS = ["coils", "discrete-inputs", "holding-registers", "input-registers"]
MAX_FRAME = 260

library = ctypes.CDLL("libmodbus.so.5", use_errno=True)
pointer = ctypes.c_void_p
library.modbus_new_tcp.restype = pointer
library.modbus_new_rtu.restype = pointer
library.modbus_new_rtu.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char, ctypes.c_int, ctypes.c_int]
for function in ["modbus_connect", "modbus_get_socket"]:
    getattr(library, function).argtypes = [pointer]
for function in ["modbus_set_slave", "modbus_set_socket", "modbus_tcp_listen"]:
    getattr(library, function).argtypes = [pointer, ctypes.c_int]
library.modbus_tcp_accept.argtypes = [pointer, ctypes.POINTER(ctypes.c_int)]
library.modbus_receive.argtypes = [pointer, ctypes.c_char_p]
library.modbus_reply.argtypes = [pointer, ctypes.c_char_p, ctypes.c_int, pointer]


class Mapping(ctypes.Structure):
    """modbus_mapping_t"""
    _fields_ = [
        ("nb_bits", ctypes.c_int), ("start_bits", ctypes.c_int),
        ("nb_input_bits", ctypes.c_int), ("start_input_bits", ctypes.c_int),
        ("nb_input_registers", ctypes.c_int), ("start_input_registers", ctypes.c_int),
        ("nb_registers", ctypes.c_int), ("start_registers", ctypes.c_int),
        ("tab_bits", ctypes.POINTER(ctypes.c_uint8)), ("tab_input_bits", ctypes.POINTER(ctypes.c_uint8)),
        ("tab_input_registers", ctypes.POINTER(ctypes.c_uint16)), ("tab_registers", ctypes.POINTER(ctypes.c_uint16)),
    ]


options = json.loads(sys.argv[1])
coils, inputs, holding, readings = (options["contents"][area] for area in AREAS)
library.modbus_mapping_new.restype = ctypes.POINTER(Mapping)
mapping = library.modbus_mapping_new(len(coils), len(inputs), len(holding), len(readings))
for table, values in [("tab_bits", coils), ("tab_input_bits", inputs), ("tab_registers", holding), ("tab_input_registers", readings)]:
    for index, value in enumerate(values):
        getattr(mapping.contents, table)[index] = value

query = ctypes.create_string_buffer(MAX_FRAME)
requests = 0


def serve(context):
    """Answers one request. False when the other side is gone."""
    global requests
    length = library.modbus_receive(context, query)
    if length > 0:
        requests += 1
        library.modbus_reply(context, query, length, mapping)
    return length >= 0


def answer_parent():
    if not sys.stdin.readline():
        sys.exit()
    print(requests)


def run_serial():
    context = library.modbus_new_rtu(options["path"].encode(), 115200, b"N", 8, 1)
    library.modbus_set_slave(context, options["units"][0])
    if library.modbus_connect(context) < 0:
        raise OSError(ctypes.get_errno())
    line = library.modbus_get_socket(context)
    print("ready")
    while True:
        for ready in select.select([line, 0], [], [])[0]:
            answer_parent() if ready == 0 else serve(context)


def run_tcp():
    context = library.modbus_new_tcp(b"127.0.0.1", options["port"])
    listener = library.modbus_tcp_listen(context, 5)
    if listener < 0:
        raise OSError(ctypes.get_errno())
    connections = set()
    print("ready")
    while True:
        for ready in select.select([listener, 0, *connections], [], [])[0]:
            if ready == 0:
                answer_parent()
            elif ready == listener:
                connections.add(library.modbus_tcp_accept(context, ctypes.byref(ctypes.c_int(listener))))
            else:
                library.modbus_set_socket(context, ready)
                if not serve(context):
                    os.close(ready)
                    connections.discard(ready)


run_serial() if options["transport"] == "serial" else run_tcp()
