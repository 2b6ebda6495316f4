{{/* The migration as a container, and the Postgres for trials as others see it. */}}

{{/* The Postgres for trials does not exist before its release does, so the hook runs only before upgrades there. */}}
{{- define "slipway.migrationHook" -}}
{{- ternary "pre-install,pre-upgrade" "pre-upgrade" (ne .Values.database.existingSecret "") -}}
{{- end -}}

{{/* `mounts` are those of volumes that the values add to its pod. */}}
{{- define "slipway.migration" -}}
- name: migrate
  image: {{ include "slipway.image" (dict "root" .root "component" "api") }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: [node, apps/api/dist/migrate.js]
  env:
    {{- include "slipway.environment" (dict "root" .root "component" "migrate") | nindent 4 }}
  securityContext:
    {{- include "slipway.containerSecurity" .root | nindent 4 }}
  resources:
    {{- toYaml .root.Values.migrations.resources | nindent 4 }}
  volumeMounts:
    - name: tmp
      mountPath: /tmp
    {{- with .mounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/*
Init containers for a release with the Postgres for trials. The api waits for Postgres and migrates. The others wait for
the end of the first migration, which grants their login the right to read the list of migrations.
*/}}
{{- define "slipway.trialSchema" -}}
{{- /* `$$` is `$`: a kubelet replaces `$(NAME)` in a command by a variable. */ -}}
{{- $isApi := eq .component "api" -}}
{{- $urlKey := ternary .root.Values.database.gatewayUrlKey .root.Values.database.urlKey (eq .component "gateway") -}}
{{- if $isApi }}{{ $urlKey = .root.Values.database.ownerUrlKey | default "owner-url" }}{{ end -}}
- name: wait
  image: {{ .root.Values.database.trial.image }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command:
    - sh
    - -c
    - |
      until said=$$(psql "$DATABASE_URL" --no-psqlrc --quiet --output=/dev/null --command={{ ternary "'select 1'" "'select 1 from schema_migrations limit 1'" $isApi }} 2>&1); do
        echo "waiting for {{ ternary "Postgres" "the first migration" $isApi }}: $said"
        sleep 2
      done
  env:
    {{- include "slipway.secretVariable" (dict "name" "DATABASE_URL" "secret" (include "slipway.databaseSecret" .root) "key" $urlKey) | nindent 4 }}
  securityContext:
    {{- include "slipway.containerSecurity" .root | nindent 4 }}
  resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}
{{- if and $isApi .root.Values.migrations.enabled }}
{{ include "slipway.migration" (dict "root" .root) }}
{{- end }}
{{- end -}}
