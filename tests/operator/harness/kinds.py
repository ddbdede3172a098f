"""The kinds of jobs, as far as tests need to know them apart."""

from collections import namedtuple

# specs: the replica map; deciders: roles whose pods decide success, and are all of them needed for it;
# scale: has /scale; texts: "running" and "succeeded" with or without the namespace.
Kind = namedtuple("Kind", "name plural specs container shape deciders scale running succeeded")

TF = Kind("TFJob", "tfjobs", "tfReplicaSpecs", "tensorflow", {"Chief": 1, "Worker": 2}, ["chief-0"], False,
          "TFJob {ns}/{job} is running.", "TFJob {ns}/{job} successfully completed.")
PYTORCH = Kind("PyTorchJob", "pytorchjobs", "pytorchReplicaSpecs", "pytorch", {"Master": 1, "Worker": 2}, ["master-0"],
               True, "PyTorchJob {job} is running.", "PyTorchJob {job} is successfully completed.")
XGBOOST = Kind("XGBoostJob", "xgboostjobs", "xgbReplicaSpecs", "xgboost", {"Master": 1, "Worker": 2}, ["master-0"],
               False, "XGBoostJob {job} is running.", "XGBoostJob {job} is successfully completed.")
MPI = Kind("MPIJob", "mpijobs", "mpiReplicaSpecs", "mpi", {"Launcher": 1, "Worker": 2}, ["launcher"],
           False, "MPIJob {job} is running.", "MPIJob {job} is successfully completed.")
PADDLE = Kind("PaddleJob", "paddlejobs", "paddleReplicaSpecs", "paddle", {"Master": 1, "Worker": 2}, ["master-0"],
              True, "PaddleJob {job} is running.", "PaddleJob {job} is successfully completed.")
JAX = Kind("JAXJob", "jaxjobs", "jaxReplicaSpecs", "jax", {"Worker": 2}, ["worker-0", "worker-1"],
           True, "JAXJob {ns}/{job} is running.", "JAXJob {ns}/{job} successfully completed.")
KINDS = [TF, PYTORCH, XGBOOST, MPI, PADDLE, JAX]


def pod_of(role, index):
    """worker-0; a launcher has no number."""
    return "launcher" if role == "Launcher" else f"{role.lower()}-{index}"


def pods_of(shape):
    return sorted(pod_of(role, i) for role, n in shape.items() for i in range(n))
