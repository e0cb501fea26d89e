"""Listens as systemd does for services that tell how they are, and prints what it hears, a JSON text a line."""
import json
import socket
import sys

listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print(json.dumps("listening"))
while True:
    # A plain recv closes the file that systemd-notify sends to learn that all has been read: as systemd does.
    text = listener.recv(4096).decode()
    if text != "BARRIER=1":
        print(json.dumps(text))
