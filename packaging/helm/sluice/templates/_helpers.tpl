{{- define "sluice.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "sluice.selectorLabels" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sluice.labels" -}}
{{ include "sluice.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* The daemon's configuration. Admins reach the admin listener by `kubectl port-forward`. */}}
{{- define "sluice.config" -}}
listeners:
  - {address: "0.0.0.0:{{ .Values.listeners.http.port }}"}
  {{- if .Values.listeners.grpc.enabled }}
  - {address: "0.0.0.0:{{ .Values.listeners.grpc.port }}", protocol: grpc}
  {{- end }}
  {{- if .Values.listeners.resp.enabled }}
  - address: "0.0.0.0:{{ .Values.listeners.resp.port }}"
    protocol: resp
    {{- if .Values.listeners.resp.existingSecret }}
    auth: {password_file: /etc/sluice/resp/password}
    {{- end }}
  {{- end }}
  - {address: "0.0.0.0:{{ .Values.listeners.metrics.port }}", role: metrics}
  - {address: "127.0.0.1:6070", role: admin}
table:
  path: /dev/shm/sluice.table
  keys: {{ int64 .Values.table.keys }}
  snapshots: /var/lib/sluice
rule_sources:
  - files: [/etc/sluice/rules/*.yaml]
  - api: {dir: /var/lib/sluice/api}
{{- if .Values.redis.address }}
store:
  redis:
    address: {{ .Values.redis.address | quote }}
    {{- if .Values.redis.username }}
    username: {{ .Values.redis.username | quote }}
    {{- end }}
    {{- if .Values.redis.existingSecret }}
    password_file: /etc/sluice/redis/password
    {{- end }}
    {{- if .Values.redis.tls }}
    tls: {}
    {{- end }}
{{- end }}
{{- with .Values.extraConfig }}
{{ toYaml . }}
{{- end }}
{{- end -}}
