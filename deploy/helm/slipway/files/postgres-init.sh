#!/bin/bash
# Runs once, when the Postgres volume is new (mounted in /docker-entrypoint-initdb.d).
# Creates the role of the running product: neither superuser nor owner, so that row-level security applies to it.
# Without INHERIT it sees nothing until a transaction takes one of the roles that the migration grants it. The migration
# creates the login of the gateways. Needs POSTGRES_USER, POSTGRES_DB and SLIPWAY_APP_PASSWORD.
set -euo pipefail

: "${SLIPWAY_APP_PASSWORD:?is needed to make the role slipway_app}"

psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set database="$POSTGRES_DB" <<'SQL'
\getenv app_password SLIPWAY_APP_PASSWORD
create role slipway_app login nosuperuser nocreatedb nocreaterole noinherit nobypassrls password :'app_password';
revoke all on database :"database" from public;
-- create: BullMQ keeps its jobs in a schema of its own where QUEUE_BACKEND is postgres.
grant connect, create, temporary on database :"database" to slipway_app;
SQL
