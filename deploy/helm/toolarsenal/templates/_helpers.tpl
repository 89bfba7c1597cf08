{{- define "toolarsenal.name" -}}
{{- if contains "toolarsenal" .Release.Name -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-toolarsenal" .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "toolarsenal.selector" -}}
app.kubernetes.io/name: toolarsenal
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "toolarsenal.metadata" -}}
name: {{ include "toolarsenal.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "toolarsenal.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The configuration, with the names by which clients call the gateway unless the values name them. */}}
{{- define "toolarsenal.config" -}}
{{- $name := include "toolarsenal.name" . -}}
{{- $service := printf "%s.%s" $name .Release.Namespace -}}
{{- $hosts := list $name $service (printf "%s.svc" $service) (printf "%s.svc.cluster.local" $service) -}}
{{- if .Values.ingress.enabled -}}
{{- $hosts = concat $hosts .Values.ingress.hosts -}}
{{- end -}}
{{- mergeOverwrite (dict "server" (dict "allowed_hosts" $hosts)) (deepCopy .Values.config) | toYaml -}}
{{- end -}}
