"""The kinds of jobs, as far as tests need to know them apart."""

from collections import namedtuple

# specs: the replica map; shape: a usual job; deciders: the pods of it that must succeed; running and
# succeeded: what conditions say.
Kind = namedtuple("Kind", "name plural specs container shape deciders running succeeded")

TF = Kind("TFJob", "tfjobs", "tfReplicaSpecs", "tensorflow", {"Chief": 1, "Worker": 2}, ["chief-0"],
          "TFJob {ns}/{job} is running.", "TFJob {ns}/{job} successfully completed.")
PYTORCH = Kind("PyTorchJob", "pytorchjobs", "pytorchReplicaSpecs", "pytorch", {"Master": 1, "Worker": 2}, ["master-0"],
               "PyTorchJob {job} is running.", "PyTorchJob {job} is successfully completed.")
XGBOOST = Kind("XGBoostJob", "xgboostjobs", "xgbReplicaSpecs", "xgboost", {"Master": 1, "Worker": 2}, ["master-0"],
               "XGBoostJob {job} is running.", "XGBoostJob {job} is successfully completed.")
MPI = Kind("MPIJob", "mpijobs", "mpiReplicaSpecs", "mpi", {"Launcher": 1, "Worker": 2}, ["launcher"],
           "MPIJob {job} is running.", "MPIJob {job} is successfully completed.")
PADDLE = Kind("PaddleJob", "paddlejobs", "paddleReplicaSpecs", "paddle", {"Master": 1, "Worker": 2}, ["master-0"],
              "PaddleJob {job} is running.", "PaddleJob {job} is successfully completed.")
JAX = Kind("JAXJob", "jaxjobs", "jaxReplicaSpecs", "jax", {"Worker": 2}, ["worker-0", "worker-1"],
           "JAXJob {ns}/{job} is running.", "JAXJob {ns}/{job} successfully completed.")
KINDS = [TF, PYTORCH, XGBOOST, MPI, PADDLE, JAX]


def pod_of(role, index):
    """worker-0; a launcher has no number."""
    return "launcher" if role == "Launcher" else f"{role.lower()}-{index}"


def pods_of(shape):
    return sorted(pod_of(role, i) for role, n in shape.items() for i in range(n))
