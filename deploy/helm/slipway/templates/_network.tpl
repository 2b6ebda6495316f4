{{/* Egress rules that several policies have. */}}

{{- define "slipway.dns" -}}
- ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]
{{- end -}}

{{- define "slipway.dnsAndStores" -}}
{{- $policy := .Values.networkPolicy -}}
{{ include "slipway.dns" . }}
- ports: [{port: {{ $policy.database.port }}, protocol: TCP}]
  {{- with $policy.database.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- if eq .Values.queue.backend "redis" }}
- ports: [{port: {{ $policy.redis.port }}, protocol: TCP}]
  {{- with $policy.redis.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}
