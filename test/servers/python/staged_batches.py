"""Reads staged batches, a line of base64 each, with pyarrow, polars and duckdb: for each, a line of JSON with the columns that they find.

Whole numbers and times (nanoseconds) are texts, floats the eight bytes of a double and bytes their own, in
hexadecimal; what is missing is null.
"""
import base64
import io
import json
import struct
import sys

import duckdb
import polars
import pyarrow as pa


def plain(value):
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        return struct.pack(">d", value).hex()
    return value.hex() if isinstance(value, bytes) else str(value)


def columns_of(table):
    return {name: [plain(value) for value in values] for name, values in table.items()}


def by_pyarrow(stream):
    table = pa.ipc.open_stream(stream).read_all()
    table.validate(full=True)
    times = table.column("time").cast(pa.int64())
    return columns_of(table.set_column(0, "time", times).to_pydict())


def by_polars(stream):
    table = polars.read_ipc_stream(io.BytesIO(stream))
    return columns_of(table.with_columns(polars.col("time").dt.epoch("ns")).to_dict(as_series=False))


def by_duckdb(stream):
    batch = pa.ipc.open_stream(stream).read_all()  # noqa: F841, which duckdb finds by its name
    return columns_of(duckdb.sql("SELECT * REPLACE (epoch_ns(time) AS time) FROM batch").to_arrow_table().to_pydict())


for line in sys.stdin:
    bytes_ = base64.b64decode(line)
    print(json.dumps({"pyarrow": by_pyarrow(bytes_), "polars": by_polars(bytes_), "duckdb": by_duckdb(bytes_)}), flush=True)
