{{/* Egress rules that several policies share. */}}

{{- define "slipway.dns" -}}
- ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]
{{- end -}}

{{- define "slipway.dnsAndStores" -}}
{{- $policy := .root.Values.networkPolicy -}}
{{ include "slipway.dns" .root }}
- ports: [{port: {{ $policy.database.port }}, protocol: TCP}]
  {{- with $policy.database.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- if and (eq .root.Values.queue.backend "redis") (eq .component "worker") }}
- ports: [{port: {{ $policy.redis.port }}, protocol: TCP}]
  {{- with $policy.redis.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}
