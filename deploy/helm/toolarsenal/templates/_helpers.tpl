{{- define "toolarsenal.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "toolarsenal.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "toolarsenal.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "toolarsenal.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "toolarsenal.selector" -}}
app.kubernetes.io/name: {{ include "toolarsenal.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "toolarsenal.labels" -}}
{{ include "toolarsenal.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "toolarsenal.config" -}}
{{ toYaml (omit .Values.config "server") }}
server:
  host: 0.0.0.0
  port: 8080
  allowed_hosts:
    - {{ include "toolarsenal.fullname" . }}
    - {{ include "toolarsenal.fullname" . }}.{{ .Release.Namespace }}
    - {{ include "toolarsenal.fullname" . }}.{{ .Release.Namespace }}.svc
    - {{ include "toolarsenal.fullname" . }}.{{ .Release.Namespace }}.svc.cluster.local
    {{- range .Values.allowedHosts }}
    - {{ . | quote }}
    {{- end }}
  {{- with .Values.config.server }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
