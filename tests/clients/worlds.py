"""Random worlds for two schedulers: nodes, and pods that ask for all that kube-scheduler filters by."""

ZONE, HOST, RACK = "example.com/zone", "example.com/host", "example.com/rack"
APPS = ("a", "b", "c")
OTHER = "others"  # a namespace
CLASSES = {"low": 5, "high": 10}
PORTS = {"c": 8080, "d": 8081, "i0": 8082, "i1": 8083}  # by container: a pod must not want one twice
OFTEN, SELDOM = 0.3, 0.08


def pin(i):
    """A resource that only node i has, so that a pod which asks for it fits there or nowhere."""
    return f"example.com/node-{i}"


class World:
    """Nodes and pods of a seed. Its nodes have names that no other world's have."""

    def __init__(self, random, seed):
        self.random = random
        self.seed = seed
        self.nodes = [self.node(i) for i in range(random.randint(2, 5))]
        self.pods = [self.pod(i) for i in range(random.randint(4, 8))]

    def maybe(self, chance, value):
        return value() if self.random.random() < chance else None

    def some(self, values, least=1):
        return self.random.sample(values, self.random.randint(least, len(values)))

    # ---- nodes

    def node(self, i):
        r = self.random
        name = f"w{self.seed}-n{i}"
        labels = {HOST: name, "size": str(r.randint(1, 4))}
        if r.random() < 0.85:
            labels[ZONE] = r.choice(["z1", "z2", "z3"])
        if r.random() < 0.5:
            labels["disk"] = r.choice(["ssd", "hdd"])
        spec = {}
        if r.random() < OFTEN:
            spec["taints"] = [{"key": r.choice(["t", "u"]), "value": r.choice(["", "1", "2"]),
                               "effect": r.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])}]
        if r.random() < SELDOM:
            spec["unschedulable"] = True
        has = {"cpu": r.choice(["1", "2", "4"]), "memory": r.choice(["512Mi", "1Gi", "2G"]),
               "ephemeral-storage": "10Gi", "pods": str(r.randint(2, 8)), pin(i): "100"}
        if r.random() < 0.5:
            has["nvidia.com/gpu"] = str(r.randint(1, 2))
        ready = {"type": "Ready", "status": "True", "reason": "R", "message": ""}
        return {"metadata": {"name": name, "labels": labels}, "spec": spec,
                "status": {"allocatable": has, "capacity": has, "conditions": [ready]}}

    # ---- pods

    def pod(self, i):
        r = self.random
        labels = {"app": r.choice(APPS), "track": r.choice(["x", "y"]), "batch": r.choice(["1", "2"])}
        spec = {"containers": [self.container("c")], "terminationGracePeriodSeconds": 0,
                "priorityClassName": self.maybe(0.3, lambda: r.choice(list(CLASSES))),
                "initContainers": self.maybe(0.25, self.init_containers),
                "nodeSelector": self.maybe(SELDOM, lambda: {"disk": r.choice(["ssd", "hdd"])}),
                "tolerations": self.maybe(OFTEN, lambda: [self.toleration() for _ in range(r.randint(1, 2))]),
                "topologySpreadConstraints": self.maybe(OFTEN, self.spread),
                "affinity": self.affinity()}
        if r.random() < 0.3:
            spec["containers"].append(self.container("d"))
        if r.random() < 0.08:
            spec["resources"] = {"requests": {"cpu": r.choice(["1500m", "2", "4"])}}
        return {"metadata": {"name": f"p{i}", "namespace": OTHER if r.random() < 0.25 else "default", "labels": labels},
                "spec": {k: v for k, v in spec.items() if v}}

    def container(self, name, **more):
        r = self.random
        requests = {"cpu": r.choice(["0", "0", "100m", "250m", "500m", "1"]), "memory": r.choice(["0", "100Mi", "300M"])}
        limits = {}
        if r.random() < 0.1:
            requests["nvidia.com/gpu"] = limits["nvidia.com/gpu"] = str(r.randint(1, 2))
        found = {"name": name, "image": "x", "resources": {"requests": requests, "limits": limits}, **more}
        if r.random() < 0.15:
            found["ports"] = [{"containerPort": 80, "hostPort": PORTS[name],
                               "protocol": r.choice(["TCP", "UDP"]),
                               "hostIP": r.choice(["", "0.0.0.0", "127.0.0.1", "10.0.0.1"])}]
        return found

    def init_containers(self):
        sidecar = {"restartPolicy": "Always"}
        return [self.container(f"i{k}", **(sidecar if self.random.random() < 0.5 else {}))
                for k in range(self.random.randint(1, 2))]

    def toleration(self):
        r = self.random
        found = {"key": r.choice(["t", "u", "node.kubernetes.io/unschedulable"]),
                 "effect": r.choice(["", "NoSchedule", "NoExecute"])}
        if r.random() < 0.5:
            return {**found, "operator": "Exists"}
        return {**found, "operator": "Equal", "value": r.choice(["", "1", "2"])}

    def selector(self):
        r = self.random
        kind = r.randint(0, 4)
        if kind == 0:
            return {}
        if kind == 1:
            return {"matchLabels": {"app": r.choice(APPS)}}
        if kind == 2:
            return {"matchExpressions": [{"key": "app", "operator": r.choice(["In", "NotIn"]), "values": self.some(APPS)}]}
        if kind == 3:
            return {"matchExpressions": [{"key": r.choice(["app", "no"]), "operator": r.choice(["Exists", "DoesNotExist"])}]}
        return {"matchLabels": {"track": r.choice(["x", "y"])}}

    # ---- affinity

    def node_requirement(self):
        r = self.random
        kind = r.randint(0, 3)
        if kind == 0:
            return {"key": r.choice(["disk", ZONE]), "operator": r.choice(["Exists", "DoesNotExist"])}
        if kind == 1:
            return {"key": "size", "operator": r.choice(["Gt", "Lt"]), "values": [str(r.randint(1, 4))]}
        key, values = r.choice([("disk", ["ssd", "hdd"]), (ZONE, ["z1", "z2", "z3"])])
        return {"key": key, "operator": r.choice(["In", "NotIn"]), "values": self.some(values)}

    def node_term(self):
        r = self.random
        term = {"matchExpressions": [self.node_requirement() for _ in range(r.randint(0, 2))]}
        if r.random() < 0.2:
            name = r.choice(self.nodes)["metadata"]["name"]
            term["matchFields"] = [{"key": "metadata.name", "operator": r.choice(["In", "NotIn"]), "values": [name]}]
        return term

    def node_affinity(self):
        r = self.random
        found = {"requiredDuringSchedulingIgnoredDuringExecution":
                 {"nodeSelectorTerms": [self.node_term() for _ in range(r.randint(1, 2))]}}
        if r.random() < 0.3:
            found["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": r.randint(1, 100), "preference": {"matchExpressions": [self.node_requirement()]}}]
        return found

    def pod_term(self):
        r = self.random
        term = {"topologyKey": r.choice([ZONE, HOST, RACK] if r.random() < 0.2 else [ZONE, HOST])}
        if r.random() < 0.9:
            term["labelSelector"] = self.selector()
        if r.random() < 0.2:
            term["namespaces"] = self.some(["default", OTHER])
        if r.random() < 0.2:
            term["namespaceSelector"] = r.choice([{}, {"matchLabels": {"team": "x"}}, {"matchLabels": {"team": "none"}}])
        if "labelSelector" in term and r.random() < 0.15:
            term[r.choice(["matchLabelKeys", "mismatchLabelKeys"])] = ["batch"]
        return term

    def pod_affinity(self):
        return {"requiredDuringSchedulingIgnoredDuringExecution": [self.pod_term() for _ in range(self.random.randint(1, 2))]}

    def affinity(self):
        found = {"nodeAffinity": self.maybe(0.2, self.node_affinity), "podAffinity": self.maybe(0.12, self.pod_affinity),
                 "podAntiAffinity": self.maybe(0.2, self.pod_affinity)}
        return {k: v for k, v in found.items() if v}

    def spread(self):
        r = self.random
        rules = []
        for key in self.some([ZONE, HOST]):
            rule = {"topologyKey": key, "maxSkew": r.randint(1, 2),
                    "whenUnsatisfiable": r.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"])}
            if r.random() < 0.9:
                rule["labelSelector"] = self.selector()
            if rule["whenUnsatisfiable"] == "DoNotSchedule" and r.random() < 0.25:
                rule["minDomains"] = r.randint(1, 4)
            for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
                if r.random() < 0.3:
                    rule[policy] = r.choice(["Honor", "Ignore"])
            if "labelSelector" in rule and r.random() < 0.2:
                rule["matchLabelKeys"] = ["batch"]
            rules.append(rule)
        return rules


# ---- what is taken, reckoned apart from any scheduler

UNITS = {"m": 0.001, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "k": 1e3, "M": 1e6, "G": 1e9}


def amount(text):
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor
    return float(text)


def _sum(*amounts):
    return {k: sum(a.get(k, 0) for a in amounts) for k in set().union(*amounts)}


def _most(*amounts):
    return {k: max(a.get(k, 0) for a in amounts) for k in set().union(*amounts)}


def need(pod):
    """What a pod takes of its node."""
    def asked(container):
        return {k: amount(v) for k, v in container.get("resources", {}).get("requests", {}).items()}
    beside, at_start = {}, {}
    for c in pod["spec"].get("initContainers", []):
        at_start = _most(at_start, _sum(beside, asked(c)))
        if c.get("restartPolicy") == "Always":
            beside = _sum(beside, asked(c))
    found = _most(at_start, _sum(beside, *(asked(c) for c in pod["spec"]["containers"])))
    return {**found, **asked(pod["spec"]), "pods": 1}


def host_ports(pod):
    stay = [c for c in pod["spec"].get("initContainers", []) if c.get("restartPolicy") == "Always"]
    return [(p["hostPort"], p["protocol"], p.get("hostIP") or "0.0.0.0")
            for c in pod["spec"]["containers"] + stay for p in c.get("ports", [])]


def overcommitted(node, pods):
    """Words on what of a node is given away twice; "" if nothing is."""
    has = {k: amount(v) for k, v in node["status"]["allocatable"].items()}
    taken = _sum(*(need(p) for p in pods)) if pods else {}
    wrong = [f"{k}: {n} of {has.get(k, 0)}" for k, n in taken.items() if n > has.get(k, 0) + 1e-6]
    ports = [p for pod in pods for p in host_ports(pod)]
    for i, (port, protocol, ip) in enumerate(ports):
        for other in ports[:i]:
            if other[:2] == (port, protocol) and (ip in ("0.0.0.0", other[2]) or other[2] == "0.0.0.0"):
                wrong.append(f"port {port}")
    return ", ".join(wrong)
