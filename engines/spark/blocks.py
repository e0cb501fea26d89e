"""Records of the topic, each an Arrow stream, to rows and statistics."""

import base64
import json
import math
from dataclasses import dataclass, field

import pyarrow as pa


@dataclass
class Block:
    """Of the tables in databases.py."""

    rows: list = field(default_factory=list)
    windows: list = field(default_factory=list)
    unread: list = field(default_factory=list)


def decode(record, window_ms):
    """What is no batch comes with the reason: it stops nothing, and does not get lost."""
    value = bytes(record.value)
    # A topic that was deleted and made again counts its records anew, at another time.
    place = named(record.topic, record.partition, record.offset, round(record.timestamp.timestamp() * 1000))
    try:
        return block_of(pa.ipc.open_stream(value).read_all(), place, window_ms)
    except Exception as error:  # whatever is in a topic, the rest of it has to be stored
        return Block(unread=[(place, f'{type(error).__name__}: {error}', value)])


def block_of(table, place, window_ms):
    metadata = {key.decode(): text.decode() for key, text in (table.schema.metadata or {}).items()}
    source = checked(metadata['sluice.source'])
    batch = identity(metadata) or place
    tag_columns, columns = {}, {}
    for its, column in zip(table.schema, table.columns):
        marks = its.metadata or {}
        if b'sluice.tag' in marks:
            tag_columns[marks[b'sluice.tag'].decode()] = column.to_pylist()
        elif b'sluice.ordinal' not in marks:
            columns[its.name] = column
    times = columns.pop('time').cast(pa.timestamp('ns', 'UTC')).cast(pa.int64())
    tags = tags_of(table.num_rows, json.loads(metadata.get('sluice.tags', '{}')), tag_columns)
    fields = rowwise({name: column.to_pylist() for name, column in columns.items()}, table.num_rows)
    rows = [(batch, row, source, time, tags[row], text_of(fields[row])) for row, time in enumerate(times.to_pylist())]
    return Block(rows, [(source, its_tags, name, start, batch, *numbers) for its_tags, name, start, *numbers in
                        statistics(columns, times, tags, window_ms)])


def statistics(columns, times, tags, window_ms):
    numbers = {name: column for name, column in columns.items() if is_number(column.type)}
    starts = pa.array([time // 1_000_000 // window_ms * window_ms for time in times.to_pylist()], pa.int64())
    # Their names may be any, those of a group are ours.
    table = pa.table([pa.array(tags, pa.string()), starts, *numbers.values()], ['tags', 'start', *map(str, range(len(numbers)))])
    wanted = ['count', 'sum', 'min', 'max']
    groups = table.group_by(['tags', 'start']).aggregate([(str(i), how) for i in range(len(numbers)) for how in wanted])
    for group in groups.to_pylist():
        for i, name in enumerate(numbers):
            count, *others = [group[f'{i}_{how}'] for how in wanted]
            if count > 0:
                yield group['tags'], name, group['start'], count, *map(float, others)


def is_number(its):
    return pa.types.is_integer(its) or pa.types.is_floating(its)


def tags_of(rows, constant, columns):
    """As JSON, which is made once of those that are alike."""
    known = {}

    def text(values):
        if values not in known:
            own = {name: value for name, value in zip(columns, values) if value is not None}
            known[values] = text_of({**constant, **own}, sort_keys=True)
        return known[values]

    return [text(values) for values in zip(*columns.values())] if columns else [text(())] * rows


def rowwise(columns, rows):
    names = [checked(name) for name in columns]
    if not names:
        return [{} for _ in range(rows)]
    return [{name: value for name, value in zip(names, values) if value is not None} for values in zip(*columns.values())]


def identity(metadata):
    """Not every record is a whole batch."""
    if 'sluice.seq' not in metadata or 'sluice.epoch' not in metadata:
        return None
    return named(metadata['sluice.gateway'], metadata['sluice.source'], metadata['sluice.epoch'], int(metadata['sluice.seq']))


def named(*parts):
    return '/'.join(str(part).replace('%', '%25').replace('/', '%2F') for part in parts)


def text_of(values, sort_keys=False):
    plain_values = {name: plain(value) for name, value in values.items()}
    return json.dumps(plain_values, ensure_ascii=False, separators=(',', ':'), sort_keys=sort_keys)


def plain(value):
    """A number that JSON has no form for becomes a text, such as "NaN"; bytes are Base64."""
    if isinstance(value, str):
        return checked(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return 'NaN' if math.isnan(value) else f'{"-" if value < 0 else ""}Infinity'
    return value


def checked(text):
    if '\0' in text:
        raise ValueError('a text of it has a character 0, which PostgreSQL does not hold')
    return text
