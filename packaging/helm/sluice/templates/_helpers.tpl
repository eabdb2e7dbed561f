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

{{/* Not empty if pods share their state in a Redis. */}}
{{- define "sluice.sharesState" -}}
{{- if or .Values.redis.address .Values.redis.sentinel .Values.redis.cluster }}yes{{ end -}}
{{- end -}}

{{/* The ConfigMap with the files of Envoy's rate limit service; empty if there are none. */}}
{{- define "sluice.envoyFiles" -}}
{{- if .Values.envoy.existingConfigMap }}{{ .Values.envoy.existingConfigMap }}
{{- else if .Values.envoy.files }}{{ include "sluice.name" . }}-envoy
{{- end -}}
{{- end -}}

{{/* The ports of Redis and its Sentinels, by their addresses; 6379 where an address has none. */}}
{{- define "sluice.redisPorts" -}}
{{- $addresses := .Values.redis.cluster -}}
{{- with .Values.redis.address }}{{ $addresses = append $addresses . }}{{ end -}}
{{- with .Values.redis.sentinel }}{{ $addresses = concat (append $addresses "primary:6379") .addresses }}{{ end -}}
{{- $ports := list -}}
{{- range $addresses }}
{{- $ports = append $ports (regexFind ":[0-9]+$" . | trimPrefix ":" | default "6379" | int) -}}
{{- end -}}
{{- uniq $ports | toJson -}}
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
{{- if include "sluice.envoyFiles" . }}
envoy: {directory: /etc/sluice/envoy}
{{- end }}
{{- if include "sluice.sharesState" . }}
store:
  redis:
    {{- with .Values.redis.address }}
    address: {{ . | quote }}
    {{- end }}
    {{- with .Values.redis.sentinel }}
    sentinel: {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .Values.redis.cluster }}
    cluster: {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- if .Values.redis.username }}
    username: {{ .Values.redis.username | quote }}
    {{- end }}
    {{- if .Values.redis.existingSecret }}
    password_file: /etc/sluice/redis/password
    {{- end }}
    {{- if .Values.redis.tls.enabled }}
    tls: {{ omit .Values.redis.tls "enabled" | toJson }}
    {{- end }}
{{- end }}
{{- with .Values.extraConfig }}
{{ toYaml . }}
{{- end }}
{{- end -}}
