# Sourced after lib.sh by the tests of muster run: what it runs, and where it keeps it.
# shellcheck shell=sh disable=SC2154 # what tests set

XDG_DATA_HOME=$(mktemp -d) # not below the trash directory: jobs run in that
export XDG_DATA_HOME
space=$(mktemp -d) # that pods see; its name has no blanks, as that of the trash directory has

# job NAME REPLICAS COMMAND: on standard output; $policy and $gpu, where they are set, are of its replicas.
job() {
	cat <<-END
	apiVersion: kubeflow.org/v1
	kind: TFJob
	metadata: {name: $1}
	spec:
	  successPolicy: AllWorkers
	  tfReplicaSpecs:
	    Worker:
	      replicas: $2
	      restartPolicy: ${policy:-Never}
	      template:
	        spec:
	          terminationGracePeriodSeconds: 30
	          volumes: [{name: space, hostPath: {path: $space}}]
	          containers:
	          - name: tensorflow
	            volumeMounts: [{name: space, mountPath: $space}]
	            image: none
	            resources: {requests: {cpu: 10m}${gpu:+, limits: {nvidia.com/gpu: $gpu\}}}
	            command: [sh, -c, '$3']
	END
}
