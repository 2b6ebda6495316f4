#!/bin/sh
# Creates the Secrets of a trial, once: the passwords of the Postgres in trial.yaml, the key and the first token.
set -eu

make() { kubectl --namespace slipway create secret generic "$@"; }
owner=$(openssl rand -hex 24)
app=$(openssl rand -hex 24)
gateway=$(openssl rand -hex 24)
host=slipway-trial-postgres:5432/slipway
make slipway-trial --from-literal=owner="$owner" --from-literal=app="$app"
make slipway-database --from-literal=owner-url="postgres://slipway:$owner@$host" --from-literal=url="postgres://slipway_app:$app@$host" \
  --from-literal=gateway-url="postgres://slipway_gateway_app:$gateway@$host"
make slipway-key --from-literal=key="$(openssl rand -base64 32)"
make slipway-bootstrap --from-literal=token="slw_bootstrap_$(openssl rand -hex 32)"
