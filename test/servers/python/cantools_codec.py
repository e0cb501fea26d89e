"""Encodes and decodes with cantools: reads JSON requests from the standard input, one a line, and answers each in order.

{"dbc": path}                                     -> {"messages": [...]} or {"refused": reason}
{"encode": [[path, message, {signal: value}]...]} -> {"data": [hex...]}, null for what cantools refuses
{"decode": [[path, message, hex]...]}             -> {"signals": [{signal: value}...]}: texts where the DBC names the value; null where no multiplexor's value is known
"""
import json
import sys

import cantools

databases = {}


def database(path):
    if path not in databases:
        try:
            databases[path] = cantools.database.load_file(path)
        except Exception as error:
            databases[path] = str(error)
    return databases[path]


def message_of(path, name):
    return database(path).get_message_by_name(name)


def load(path):
    found = database(path)
    if isinstance(found, str):
        return {"refused": found}
    return {"messages": [message.name for message in found.messages]}


def encode(path, name, values):
    message = message_of(path, name)
    try:
        padding = message.protocol == "j1939"
        return message.encode({signal: number(value) for signal, value in values.items()}, padding=padding).hex()
    except Exception as error:
        return {"error": str(error)}


def number(value):
    """Whole numbers of any size come as digits."""
    return int(value) if isinstance(value, str) else value


def decode(path, name, data):
    try:
        signals = message_of(path, name).decode(bytes.fromhex(data), decode_choices=True)
    except cantools.database.DecodeError:
        return None
    return {signal: exact(value) for signal, value in signals.items()}


def exact(value):
    if isinstance(value, (int, float)):
        return value if abs(value) < 2**53 else {"digits": str(value)}
    return {"text": str(value)}


for line in sys.stdin:
    request = json.loads(line)
    if "dbc" in request:
        answer = load(request["dbc"])
    elif "encode" in request:
        answer = {"data": [encode(*each) for each in request["encode"]]}
    else:
        answer = {"signals": [decode(*each) for each in request["decode"]]}
    print(json.dumps(answer), flush=True)
