#!/bin/sh
# Makes what the gateway and Mosquitto have to agree on, before either starts: the gateway's id, its account and its rights there.
# Run by `docker compose up` each time; a changed secret, or a newer mosquitto.conf, takes effect by that.
set -eu

/opt/sluice/bin/sluice broker-acl self:consumer --password-file self=/run/secrets/broker_password --user-dir /data --out /broker > /dev/null

# Mosquitto of the image listens to the other containers, and keeps its snapshot in the volume.
sed -e 's/^listener .*/listener 1883/' \
    -e 's/^allow_anonymous .*/allow_anonymous false/' \
    -e 's|^persistence_location .*|persistence_location /mosquitto/data/|' \
    /opt/sluice/share/mosquitto/mosquitto.conf > /broker/mosquitto.conf
printf 'password_file /mosquitto/config/sluice.passwords\nacl_file /mosquitto/config/sluice.acl\n' >> /broker/mosquitto.conf

# As their images run them.
chown -R 1883:1883 /broker
chown 1000:1000 /data/sluice /data/sluice/gateway-id
