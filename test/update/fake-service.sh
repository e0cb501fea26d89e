#!/bin/sh
# Runs the gateway of an installation as systemd does by packaging/systemd/sluice.service: the start-up script before each start and after
# it, again whenever it ends.
root=$1
while :; do
  "$root/sluice-boot"
  "$root/current/bin/sluice" start &
  echo $! > "$root/gateway.pid"
  "$root/sluice-boot" decide || kill $!
  wait $!
done
