/* The objects that are created, and what is read in answers without parsing them. */

#include "kbench.h"

/* Its owner is of a group that nobody serves, so that no garbage collector looks for it. */
str body_pod(struct arena *a, const char *name_space, long i)
{
    return arena_printf(
        a,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"mnist-%06ld-worker-0\","
        "\"namespace\":\"%s\",\"labels\":{\"training.kubeflow.org/job-name\":\"mnist-%06ld\","
        "\"training.kubeflow.org/operator-name\":\"pytorchjob-controller\","
        "\"training.kubeflow.org/replica-index\":\"0\","
        "\"training.kubeflow.org/replica-type\":\"worker\"},\"annotations\":{"
        "\"sidecar.istio.io/inject\":\"false\"},\"ownerReferences\":[{"
        "\"apiVersion\":\"training.org/v1\",\"blockOwnerDeletion\":true,\"controller\":true,"
        "\"kind\":\"PyTorchJob\",\"name\":\"mnist-%06ld\","
        "\"uid\":\"3f1c2b5e-7a44-4f0d-9d6a-0000%08lx\"}]},\"spec\":{\"containers\":[{"
        "\"name\":\"pytorch\",\"image\":\"registry.example.com/train/mnist:2.1\","
        "\"command\":[\"python3\",\"/opt/train/main.py\",\"--epochs\",\"20\",\"--batch-size\","
        "\"256\",\"--data\",\"/data/mnist\"],\"env\":[{\"name\":\"PYTHONUNBUFFERED\","
        "\"value\":\"1\"},{\"name\":\"MASTER_ADDR\",\"value\":\"mnist-%06ld-master-0\"},"
        "{\"name\":\"MASTER_PORT\",\"value\":\"23456\"},{\"name\":\"WORLD_SIZE\","
        "\"value\":\"2\"},{\"name\":\"RANK\",\"value\":\"1\"}],\"ports\":[{"
        "\"containerPort\":23456,\"name\":\"pytorchjob-port\",\"protocol\":\"TCP\"}],"
        "\"resources\":{\"limits\":{\"cpu\":\"4\",\"memory\":\"16Gi\",\"nvidia.com/gpu\":\"1\"},"
        "\"requests\":{\"cpu\":\"4\",\"memory\":\"16Gi\",\"nvidia.com/gpu\":\"1\"}},"
        "\"volumeMounts\":[{\"mountPath\":\"/data\",\"name\":\"data\"},{"
        "\"mountPath\":\"/dev/shm\",\"name\":\"shm\"}]}],\"restartPolicy\":\"Never\","
        "\"schedulerName\":\"default-scheduler\",\"tolerations\":[{\"effect\":\"NoSchedule\","
        "\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\"}],\"volumes\":[{\"name\":\"data\","
        "\"persistentVolumeClaim\":{\"claimName\":\"mnist\"}},{\"emptyDir\":{"
        "\"medium\":\"Memory\"},\"name\":\"shm\"}]}}",
        i, name_space, i, i, i, i);
}

str body_configmap(struct arena *a, const char *name_space, long i)
{
    return arena_printf(a,
                        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                        "\"name\":\"event-%06ld\",\"namespace\":\"%s\"},"
                        "\"data\":{\"step\":\"%ld\"}}",
                        i, name_space, i);
}

int64_t find_revision(str json)
{
    str mark = S("\"resourceVersion\":\"");
    const char *at = memmem(json.p, json.n, mark.p, mark.n);
    int64_t n = 0;

    for (const char *p = at ? at + mark.n : NULL; p && p < json.p + json.n; p++) {
        if (*p < '0' || *p > '9')
            break;
        n = n * 10 + (*p - '0');
    }
    return n;
}
