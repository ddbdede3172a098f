"""The environment: expansion, config maps, secrets, the downward API."""

import base64

from harness.tap import has, is_
from world.scene import box, matches

from . import scene


def b64(text):
    return base64.b64encode(text.encode()).decode()


def var(name, value=None, **source):
    return {"name": name, "value": value} if value is not None else {"name": name, "valueFrom": source}


def field(path):
    return {"fieldRef": {"fieldPath": path}}


def seen(s, name, *env, **more):
    """The variables a container has: name and value."""
    words = {k: more.pop(k) for k in list(more) if k in ("envFrom", "resources")}
    s.start(name, box("env -0 | say env-" + name, env=list(env), **words), **more)
    s.wait_phase(name, "Succeeded")
    return dict(v.split("=", 1) for v in s.read("env-" + name).split("\0") if v)


@scene
def variables_expand_into_later_ones(s):
    env = seen(s, "p", var("A", "one"), var("B", "$(A) and $(B) and $(C)"), var("C", "$$(A) $$ $(A)$(B)"),
               var("D", "$(A"), var("E", "$A ${A}"))
    is_(env["B"], "one and $(B) and $(C)", "what is not there yet stays")
    is_(env["C"], "$(A) $ oneone and $(B) and $(C)", "$$ is a $")
    is_((env["D"], env["E"]), ("$(A", "$A ${A}"), "no syntax of others")


@scene
def command_and_arguments_expand(s):
    s.start("p", {"name": "main", "image": "example.com/e2e:1", "command": ["sh", "-c", 'echo "$0" "$1" "$2" >$G/out'],
                  "args": ["$(X)", "$(NOBODY)", "$$(X)"], "env": [var("X", "y z")]})
    s.wait_phase("p", "Succeeded")
    is_(s.read("out"), "y z $(NOBODY) $(X)\n", "arguments")


@scene
def the_last_of_two_of_a_name_counts(s):
    is_(seen(s, "p", var("A", "one"), var("A", "$(A) two"))["A"], "one two", "A")


@scene
def a_pod_sees_none_of_the_servers_environment(s):
    env = seen(s, "p")
    assert "E2E_LEAK" not in env, "the server's variables are its own"
    has(env["PATH"], "/bin", "PATH")
    is_(env["HOSTNAME"], "p", "HOSTNAME")
    assert env.get("HOME"), "HOME"


@scene
def env_from_takes_all_keys(s):
    s.config("c", data={"one": "1", "two": "2", "both": "map"})
    s.config("t", "secrets", data={"word": b64("hush"), "both": b64("secret")})
    env = seen(s, "p", var("two", "mine"), envFrom=[
        {"configMapRef": {"name": "c"}}, {"prefix": "S_", "secretRef": {"name": "t"}}, {"secretRef": {"name": "t"}},
        {"configMapRef": {"name": "nobody", "optional": True}}])
    is_([env[k] for k in ("one", "two", "both", "S_word", "S_both")], ["1", "mine", "secret", "hush", "secret"], "env")


@scene
def single_keys_can_be_taken(s):
    s.config("c", data={"k": "v"})
    s.config("t", "secrets", data={"k": b64("hush")})
    env = seen(s, "p", var("C", configMapKeyRef={"name": "c", "key": "k"}),
               var("S", secretKeyRef={"name": "t", "key": "k"}),
               var("N", configMapKeyRef={"name": "nobody", "key": "k", "optional": True}),
               var("M", secretKeyRef={"name": "t", "key": "nothing", "optional": True}), var("ALL", "$(C)$(S)"))
    is_((env["C"], env["S"], env["ALL"]), ("v", "hush", "vhush"), "values")
    assert "N" not in env and "M" not in env, "what is optional and missing is not there"


@scene
def a_missing_config_map_is_waited_for(s):
    s.start("p", box("echo $C | say out", env=[var("C", configMapKeyRef={"name": "later", "key": "k"})]))
    is_(s.wait_waiting("p", "CreateContainerConfigError"), 'configmap "later" not found', "message")
    s.wait_event("Failed", 'configmap "later" not found', name="p")
    s.config("later", data={"k": "now"})
    is_(s.read("out"), "now\n", "once it is there")
    s.wait_phase("p", "Succeeded")


@scene
def a_missing_secret_is_named(s):
    s.start("p", box("exit 0", envFrom=[{"secretRef": {"name": "later"}}]))
    is_(s.wait_waiting("p", "CreateContainerConfigError"), 'secret "later" not found', "message")
    s.config("later", "secrets")
    s.wait_phase("p", "Succeeded")


@scene
def a_missing_key_is_named(s):
    s.config("c", data={"k": "v"})
    s.config("t", "secrets")
    s.start("p", box("exit 0", env=[var("C", configMapKeyRef={"name": "c", "key": "other"})]))
    s.start("q", box("exit 0", env=[var("C", secretKeyRef={"name": "t", "key": "other"})]))
    is_(s.wait_waiting("p", "CreateContainerConfigError"), f"couldn't find key other in ConfigMap {s.ns}/c", "message")
    is_(s.wait_waiting("q", "CreateContainerConfigError"), f"couldn't find key other in Secret {s.ns}/t", "message")


@scene
def the_downward_api_tells_a_pod_about_itself(s):
    env = seen(s, "p", var("NAME", **field("metadata.name")), var("NS", **field("metadata.namespace")),
               var("UID_", **field("metadata.uid")), var("L", **field("metadata.labels['example.com/tier']")),
               var("A", **field("metadata.annotations['note']")), var("NODE", **field("spec.nodeName")),
               var("SA", **field("spec.serviceAccountName")), var("IP", **field("status.podIP")),
               var("IPS", **field("status.podIPs")), var("HOST", **field("status.hostIP")),
               var("NONE", **field("metadata.labels['nobody']")), var("SUM", "$(NAME)@$(IP)"),
               labels={"example.com/tier": "front"}, annotations={"note": "a b"})
    pod = s.get("p")
    is_((env["NAME"], env["NS"], env["UID_"]), ("p", s.ns, pod["metadata"]["uid"]), "name, namespace, uid")
    is_((env["L"], env["A"], env["NONE"]), ("front", "a b", ""), "label, annotation, what is not there")
    is_((env["NODE"], env["SA"]), (pod["spec"]["nodeName"], "default"), "node, service account")
    is_((env["IP"], env["IPS"], env["HOST"]), (pod["status"]["podIP"], pod["status"]["podIP"],
                                               pod["status"]["hostIP"]), "addresses")
    is_(env["SUM"], "p@" + pod["status"]["podIP"], "they expand, too")


@scene
def the_downward_api_tells_resources(s):
    def amount(resource, divisor="0"):
        return {"resourceFieldRef": {"resource": resource, "divisor": divisor}}
    env = seen(s, "p", var("CPU", **amount("limits.cpu")), var("MILLI", **amount("limits.cpu", "1m")),
               var("MEM", **amount("limits.memory")), var("MI", **amount("limits.memory", "1Mi")),
               var("ASK", **amount("requests.cpu", "1m")),
               resources={"limits": {"cpu": "1500m", "memory": "300Mi"}, "requests": {"cpu": "20m", "memory": "10Mi"}})
    is_((env["CPU"], env["MILLI"], env["ASK"]), ("2", "1500", "20"), "cpu, rounded up")
    is_((env["MEM"], env["MI"]), (str(300 << 20), "300"), "memory")


@scene
def services_that_are_there_are_in_the_environment(s):
    s.service("data-base", {"app": "db"}, ports=[{"name": "sql", "port": 5432}])
    address = s.kube.get("services", "data-base", s.ns)["spec"]["clusterIP"]
    env = seen(s, "p")
    is_((env.get("DATA_BASE_SERVICE_HOST"), env.get("DATA_BASE_SERVICE_PORT"), env.get("DATA_BASE_SERVICE_PORT_SQL")),
        (address, "5432", "5432"), "the service")
    env = seen(s, "q", enableServiceLinks=False)
    assert "DATA_BASE_SERVICE_HOST" not in env, "unless they are not wanted"
    matches(env.get("KUBERNETES_SERVICE_HOST"), ".", "the API always is")
    matches(env.get("KUBERNETES_SERVICE_PORT"), r"^\d+$", "the API always is")
