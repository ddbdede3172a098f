{{- define "muster.name" -}}
{{- if contains "muster" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-muster{{ end }}
{{- end }}

{{/* Of objects without a namespace: releases in several namespaces do not share them. */}}
{{- define "muster.clusterName" -}}
{{- $name := include "muster.name" . }}
{{- if .Values.watchNamespace }}{{ $name }}-{{ .Values.watchNamespace }}{{ else }}{{ $name }}{{ end }}
{{- end }}

{{- define "muster.account" -}}
{{- .Values.serviceAccount.name | default (ternary (include "muster.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "muster.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "muster.selector" -}}
app.kubernetes.io/name: muster
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "muster.labels" -}}
{{ include "muster.selector" . }}
app.kubernetes.io/part-of: muster
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "muster.priorityClass" -}}
{{- .Values.priorityClass.name | default (ternary (include "muster.clusterName" .) "" .Values.priorityClass.create) }}
{{- end }}

{{/* What the operator needs, from files/rights.json; "cluster": of resources without a namespace. */}}
{{- define "muster.rules" -}}
{{- $top := index . 0 }}{{ $where := index . 1 }}
{{- $rights := $top.Files.Get "files/rights.json" | fromJson }}
{{- $rules := list }}
{{- if eq $where "namespace" }}
{{- range $kind, $own := $rights.kinds }}
{{- if or (empty $top.Values.enableSchemes) (has $kind $top.Values.enableSchemes) }}{{ $rules = concat $rules $own }}{{ end }}
{{- end }}
{{- $rules = concat $rules $rights.common }}
{{- end }}
{{- $gang := lower $top.Values.gangSchedulerName }}
{{- if and $gang (ne $gang "none") }}
{{- $mode := ternary $gang "other" (has $gang (list "volcano" "kube")) }}
{{- $rules = concat $rules (index $rights.gang $mode $where) }}
{{- end }}
{{- if $rules }}{{ toYaml $rules }}{{ end }}
{{- end }}
