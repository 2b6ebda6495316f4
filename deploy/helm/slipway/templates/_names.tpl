{{/* Names, labels and images. */}}

{{- define "slipway.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "slipway" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-slipway" (.Release.Name | trunc 32 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* Objects in namespaces of models name their owner: two installations may share a namespace. */}}
{{- define "slipway.foreignName" -}}
{{- printf "%s-%s" .Release.Namespace (include "slipway.fullname" .) -}}
{{- end -}}

{{- define "slipway.selector" -}}
app.kubernetes.io/name: slipway
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of pods. They exclude the version of the chart: a new one must not restart the pods. */}}
{{- define "slipway.podLabels" -}}
{{ include "slipway.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: slipway
{{- end -}}

{{- define "slipway.labels" -}}
{{ include "slipway.podLabels" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "slipway.image" -}}
{{- $image := .root.Values.image -}}
{{- with $image.registry }}{{ trimSuffix "/" . }}/{{ end -}}
slipway-{{ .component }}
{{- with index $image.digests .component }}@{{ . }}{{ else }}:{{ $image.tag | default .root.Chart.AppVersion }}{{ end -}}
{{- end -}}

{{/* Whether a component calls the API server, and so needs the token of its account. */}}
{{- define "slipway.needsToken" -}}
{{- if and (eq .component "worker") .root.Values.targets.namespaces -}}true{{- end -}}
{{- end -}}

{{/* Names of the Secrets: those of the values, or those that secrets.yaml makes. */}}

{{- define "slipway.databaseSecret" -}}
{{- .Values.database.existingSecret | default (printf "%s-postgres" (include "slipway.fullname" .)) -}}
{{- end -}}

{{- define "slipway.keySecret" -}}
{{- .Values.secretKey.existingSecret | default (printf "%s-key" (include "slipway.fullname" .)) -}}
{{- end -}}

{{/* Empty if no token is to be created. */}}
{{- define "slipway.bootstrapSecret" -}}
{{- if .Values.bootstrapToken.existingSecret -}}
{{- .Values.bootstrapToken.existingSecret -}}
{{- else if .Values.bootstrapToken.create -}}
{{- include "slipway.fullname" . }}-bootstrap
{{- end -}}
{{- end -}}
