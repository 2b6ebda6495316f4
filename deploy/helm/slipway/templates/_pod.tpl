{{/* Security settings of every pod in this chart: no root, no privileges, a read-only root file system. */}}

{{- define "slipway.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "slipway.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "slipway.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Pod template of api, worker or gateway. Probes use `port`. */}}
{{- define "slipway.pod" -}}
{{- $own := index .root.Values .component -}}
{{- $values := .root.Values -}}
{{- /* A gateway sends no secret of the operator. */ -}}
{{- $secretFiles := ternary (list) $values.secretFiles (eq .component "gateway") -}}
metadata:
  labels:
    {{- include "slipway.podLabels" . | nindent 4 }}
    slipway.dev/metrics: 'true'
    {{- with $own.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $own.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "slipway.fullname" .root }}-{{ .component }}
  automountServiceAccountToken: {{ eq (include "slipway.needsToken" .) "true" }}
  # With service links, a Service of this chart would set SLIPWAY_API_PORT to a URL.
  enableServiceLinks: false
  {{- include "slipway.pullSecrets" .root | nindent 2 }}
  securityContext:
    {{- include "slipway.podSecurity" .root | nindent 4 }}
  terminationGracePeriodSeconds: {{ $own.gracePeriodSeconds }}
  {{- with $own.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "slipway.selector" . | nindent 10 }}
  {{- with $own.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if not $values.database.existingSecret }}
  initContainers:
    {{- include "slipway.trialSchema" . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "slipway.image" . }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      ports:
        {{- if ne .component "worker" }}
        - name: http
          containerPort: {{ .port }}
        {{- end }}
        - name: metrics
          containerPort: 9090
      env:
        {{- include "slipway.environment" . | nindent 8 }}
      securityContext:
        {{- include "slipway.containerSecurity" .root | nindent 8 }}
      resources:
        {{- toYaml $own.resources | nindent 8 }}
      # Up to five minutes: a process waits for Postgres before it listens.
      startupProbe:
        httpGet: {path: /healthz, port: {{ .port }}}
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 150
      livenessProbe:
        httpGet: {path: /healthz, port: {{ .port }}}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        httpGet: {path: /readyz, port: {{ .port }}}
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      {{- with $own.preStopSeconds }}
      lifecycle:
        preStop:
          sleep:
            seconds: {{ . }}
      {{- end }}
      volumeMounts:
        - name: config
          mountPath: /etc/slipway
          readOnly: true
        - name: home
          mountPath: /var/lib/slipway
        - name: tmp
          mountPath: /tmp
        {{- range $secretFiles }}
        - name: secret-{{ .name }}
          mountPath: /etc/slipway-secrets/{{ .name }}
          readOnly: true
        {{- end }}
        {{- with $own.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap:
        name: {{ include "slipway.fullname" .root }}-config
    - name: tmp
      emptyDir:
        sizeLimit: 1Gi
    {{- if and (ne .component "gateway") $values.workspace.existingClaim }}
    - name: home
      persistentVolumeClaim:
        claimName: {{ $values.workspace.existingClaim }}
    {{- else if not (and (eq .component "gateway") $values.gateway.persistence.enabled) }}
    - name: home
      emptyDir:
        sizeLimit: 2Gi
    {{- end }}
    {{- range $secretFiles }}
    - name: secret-{{ .name }}
      secret:
        secretName: {{ .existingSecret }}
        # 0440 in decimal: YAML 1.2 would read a bare 0440 as another number.
        defaultMode: 288
    {{- end }}
    {{- with $own.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
