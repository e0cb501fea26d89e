#!/bin/sh
# Makes the passwords of compose.yml, at random, in ./secrets; those that are there already stay.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
chmod 700 secrets
umask 022 # the containers' users, who are others, read the files; nobody else gets through the folder

make () {
  { [ -f "secrets/$1" ] && [ -s "secrets/$1" ]; } || printf '%s\n' "$2$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')" > "secrets/$1"
}
make broker_password ''
make database_password ''
make grafana_password ''
make metrics_token ''
make SLUICE_LOGIN admin:change:
echo "The editor's login is in $(pwd)/secrets/SLUICE_LOGIN, as NAME:ROLE:PASSWORD."
