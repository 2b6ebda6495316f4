{{/* Variables of a component; docker/.env.example explains them. */}}

{{- define "slipway.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: {{ .key }}
{{- end -}}

{{- define "slipway.environment" -}}
{{- /* Which process reads which variable; a test compares that file with the product. */ -}}
{{- $readers := .root.Files.Get "variables.yaml" | fromYaml -}}
{{- $component := .component -}}
{{- $values := .root.Values -}}
{{- $database := $values.database -}}
{{- $databaseSecret := include "slipway.databaseSecret" .root -}}
{{- $keySecret := include "slipway.keySecret" .root -}}
{{- $urlKey := ternary $database.gatewayUrlKey $database.urlKey (eq .component "gateway") -}}
{{ include "slipway.secretVariable" (dict "name" "DATABASE_URL" "secret" $databaseSecret "key" $urlKey) }}
{{- if eq .component "migrate" }}
{{- with $database.ownerUrlKey }}
{{ include "slipway.secretVariable" (dict "name" "SLIPWAY_MIGRATE_DATABASE_URL" "secret" $databaseSecret "key" .) }}
{{- end }}
{{ include "slipway.secretVariable" (dict "name" "SLIPWAY_GATEWAY_DATABASE_URL" "secret" $databaseSecret "key" $database.gatewayUrlKey) }}
{{- else }}
{{ include "slipway.secretVariable" (dict "name" "SLIPWAY_SECRET_KEY" "secret" $keySecret "key" $values.secretKey.key) }}
{{- with $values.secretKey.oldKey }}
{{ include "slipway.secretVariable" (dict "name" "SLIPWAY_SECRET_KEYS_OLD" "secret" $keySecret "key" .) }}
{{- end }}
- name: SLIPWAY_METRICS_PORT
  value: '9090'
{{- with $values.metrics.existingSecret }}
{{ include "slipway.secretVariable" (dict "name" "SLIPWAY_METRICS_TOKEN" "secret" . "key" $values.metrics.tokenKey) }}
{{- end }}
{{- end }}
{{- if eq .component "worker" }}
- name: QUEUE_BACKEND
  value: {{ $values.queue.backend }}
{{- if eq $values.queue.backend "redis" }}
{{ include "slipway.secretVariable" (dict "name" "REDIS_URL" "secret" $values.queue.existingSecret "key" $values.queue.urlKey) }}
{{- end }}
{{- end }}
{{- if has .component (list "api" "worker") }}
{{- with $values.workspace.store }}
- name: SLIPWAY_WORKSPACE_STORE
  value: {{ . | quote }}
{{- end }}
{{- $s3 := $values.workspace.s3Credentials }}
{{- if $s3.existingSecret }}
{{ include "slipway.secretVariable" (dict "name" "AWS_ACCESS_KEY_ID" "secret" $s3.existingSecret "key" $s3.accessKeyIdKey) }}
{{ include "slipway.secretVariable" (dict "name" "AWS_SECRET_ACCESS_KEY" "secret" $s3.existingSecret "key" $s3.secretAccessKeyKey) }}
{{- with $s3.sessionTokenKey }}
{{ include "slipway.secretVariable" (dict "name" "AWS_SESSION_TOKEN" "secret" $s3.existingSecret "key" .) }}
{{- end }}
{{- end }}
{{- end }}
{{- if eq .component "api" }}
- name: SLIPWAY_API_PORT
  value: '7070'
- name: SLIPWAY_CONSOLE_GATEWAY_URL
  value: http://{{ include "slipway.fullname" .root }}-gateway:7080
{{- with $values.identity.existingSecret }}
{{ include "slipway.secretVariable" (dict "name" "SLIPWAY_IDENTITY_CLIENT_SECRET" "secret" . "key" $values.identity.clientSecretKey) }}
{{- end }}
{{- with include "slipway.bootstrapSecret" .root }}
{{ include "slipway.secretVariable" (dict "name" "SLIPWAY_BOOTSTRAP_TOKEN" "secret" . "key" $values.bootstrapToken.key) }}
{{- end }}
{{- $ingress := $values.gateway.ingress }}
{{- if and $ingress.enabled (not (hasKey $values.settings "SLIPWAY_GATEWAY_PUBLIC_URL")) }}
- name: SLIPWAY_GATEWAY_PUBLIC_URL
  value: {{ printf "%s://%s" (ternary "https" "http" (ne $ingress.tlsSecret "")) $ingress.host | quote }}
{{- end }}
{{- $site := $values.api.ingress }}
{{- if and $site.enabled (not (hasKey $values.settings "SLIPWAY_PUBLIC_URL")) }}
- name: SLIPWAY_PUBLIC_URL
  value: {{ printf "%s://%s" (ternary "https" "http" (ne $site.tlsSecret "")) $site.host | quote }}
{{- end }}
{{- else if eq .component "gateway" }}
- name: SLIPWAY_GATEWAY_PORT
  value: '7080'
- name: SLIPWAY_GATEWAY_DRAIN_SECONDS
  value: {{ int $values.gateway.drainSeconds | quote }}
{{- end }}
{{- range $name, $value := $values.settings }}
{{- if has $component (index $readers $name) }}
- name: {{ $name }}
  {{- /* Helm would write a large number from a file as 1e+09. */}}
  value: {{ ternary $value (int64 $value) (kindIs "string" $value) | toString | quote }}
{{- end }}
{{- end }}
{{- range (index $values (ternary "migrations" $component (eq $component "migrate"))).extraEnv }}
{{- if hasKey $readers .name }}
{{- fail (printf "extraEnv sets %s, which is a variable of Slipway's own: use settings, or the value for its Secret" .name) }}
{{- end }}
- {{ toYaml . | nindent 2 | trim }}
{{- end }}
{{- end -}}
