"""Runs the ClickHouse in libchdb.so, the first argument, as a program of its own: the others are those of clickhouse-local."""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
arguments = [b"clickhouse", *(argument.encode() for argument in sys.argv[2:])]
library.query_stable_v2.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
library.query_stable_v2.restype = ctypes.c_void_p
library.query_stable_v2(len(arguments), (ctypes.c_char_p * len(arguments))(*arguments))
