"""Writes Arrow streams with pyarrow and polars: a line of JSON for each, {"name", "bytes" in base64}. `test/data/arrow/streams.jsonl` is its output."""
import base64
import datetime
import decimal
import io
import json

import polars
import pyarrow as pa

UTC = datetime.timezone.utc
TIMES = [datetime.datetime(2026, 11, 21, 8, 0, second, tzinfo=UTC) for second in range(3)]
DATES = [datetime.date(2024, 2, 1), None, datetime.date(1969, 12, 31)]
CLOCKS = [datetime.time(1, 2, 3), None, datetime.time(0, 0, 1)]
DURATIONS = [datetime.timedelta(seconds=1), None, datetime.timedelta(0)]
LONG = "a text that is longer than its view"


def decimals(*values):
    return [value and decimal.Decimal(value) for value in values]


PYARROW = pa.table({
    "time": pa.array(TIMES, pa.timestamp("us", "UTC")),
    "uint64": pa.array([1, None, 2**64 - 1], pa.uint64()),
    "decimal32": pa.array(decimals("12.345", None, "-0.001"), pa.decimal32(9, 3)),
    "decimal64": pa.array(decimals("12.345", None, "-0.001"), pa.decimal64(18, 3)),
    "decimal128": pa.array(decimals("12.345", None, "-0.001"), pa.decimal128(10, 3)),
    "decimal256": pa.array(decimals("12.345", None, "1234567890123456789.123"), pa.decimal256(40, 3)),
    "whole": pa.array(decimals("-9007199254740993", "10000000000000000000", None), pa.decimal128(20, 0)),
    "date32": pa.array(DATES, pa.date32()),
    "date64": pa.array(DATES, pa.date64()),
    "time32": pa.array(CLOCKS, pa.time32("ms")),
    "time64": pa.array(CLOCKS, pa.time64("us")),
    "duration": pa.array(DURATIONS, pa.duration("s")),
    "fixed": pa.array([b"abcd", None, b"efgh"], pa.binary(4)),
    "text view": pa.array(["a", LONG, None], pa.string_view()),
    "bytes view": pa.array([b"a", None, b"y" * 13], pa.binary_view()),
    "list": pa.array([[1], None, [2, 3]], pa.list_(pa.int64())),
    "struct": pa.array([{"a": 1, "b": LONG}, None, {"a": 2, "b": "y"}], pa.struct([("a", pa.int64()), ("b", pa.string_view())])),
    "coded struct": pa.StructArray.from_arrays([pa.array(["x", "y", "x"]).dictionary_encode()], names=["c"]),
    "fixed list": pa.array([[1.0, 2.0], [3.0, 4.0], None], pa.list_(pa.float64(), 2)),
    "texts": pa.array([["a", None, LONG], [], None], pa.large_list(pa.string_view())),
    "words": pa.array([["on"], ["off", "on"], None], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    "unsigned": pa.array([[1], [2, 2**64 - 1], None], pa.list_(pa.uint64())),
    "fixed texts": pa.array([["a"], None, [None]], pa.list_(pa.string(), 1)),
    "nested": pa.array([[[1]], None, []], pa.list_(pa.list_(pa.int64()))),
    "structs": pa.array([[{"a": 1}], None, []], pa.list_(pa.struct([("a", pa.int64())]))),
    "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
    "list view": pa.array([[1], None, [2, 3]], pa.list_view(pa.int64())),
    "sparse union": pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]),
    "dense union": pa.UnionArray.from_dense(
        pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()), [pa.array([1, 2]), pa.array(["a"])]),
    "runs": pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"]),
    "null": pa.nulls(3),
    "interval": pa.array([(1, 2, 3), None, (4, 5, 6)], pa.month_day_nano_interval()),
    "dictionary": pa.array(["on", "off", "on"]).dictionary_encode(),
    "last": pa.array([1.5, None, 2.5]),
})

MANY = pa.table({
    "time": pa.array(TIMES[:1] * 1000, pa.timestamp("ns", "UTC")),
    "number": pa.array(range(1000)),
    "text": pa.array([f"{LONG} {i % 7}" for i in range(1000)], pa.string_view()),
})

POLARS = polars.DataFrame({
    "time": TIMES,
    "text": ["short", None, LONG],
    "category": polars.Series(["on", "off", "on"], dtype=polars.Categorical),
    "enum": polars.Series(["a", "b", "a"], dtype=polars.Enum(["a", "b"])),
    "uint64": polars.Series([1, 2, 2**64 - 1], dtype=polars.UInt64),
    "date": DATES,
    "decimal": polars.Series(decimals("1.25", None, "-2.5"), dtype=polars.Decimal(10, 2)),
    "binary": [b"x", None, b"y" * 20],
    "duration": DURATIONS,
    "clock": CLOCKS,
    "list": [[1], [2, None], None],
    "texts": [["a", LONG], [], None],
    "categories": polars.Series([["on"], ["off", "on"], None], dtype=polars.List(polars.Categorical)),
    "array": polars.Series([[1.5, 2.5], None, [3.5, None]], dtype=polars.Array(polars.Float64, 2)),
    "times": [[TIMES[0]], [], None],
    "nested": [[[1]], [], None],
    "null": polars.Series([None] * 3),
    "last": [1.5, None, 2.5],
})


def pyarrow_stream(table, compression):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def polars_stream(compression):
    sink = io.BytesIO()
    POLARS.write_ipc_stream(sink, compression=compression)
    return sink.getvalue()


def show(name, data):
    print(json.dumps({"name": name, "bytes": base64.b64encode(data).decode()}))


for codec in [None, "lz4", "zstd"]:
    show("pyarrow", pyarrow_stream(PYARROW, codec))
    show("many", pyarrow_stream(MANY, codec))
    show("polars", polars_stream(codec or "uncompressed"))
