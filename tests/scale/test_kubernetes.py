"""The jobs of Kubernetes in the manual have the fields that there are, and all that a job needs.

The fields here are those of the operators' schemas (kubeflow/mpi-operator, kubeflow/trainer) that the manual uses;
XMAN_CRDS=FOLDER, with the operators' own definitions as KIND.yaml, checks against these too."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "docs" / "scripts"
RESOURCES = {"requests": {"cpu": str, "memory": str}, "limits": {"cpu": str, "memory": str}}
USER = {"runAsUser": int, "runAsGroup": int, "runAsNonRoot": bool, "fsGroup": int}
CONTAINER = {"name!": str, "image": str, "command": [str], "args": [str], "securityContext": USER,
             "envFrom": [{"secretRef": {"name": str}}],
             "readinessProbe": {"tcpSocket": {"port!": int}, "initialDelaySeconds": int}, "resources": RESOURCES,
             "volumeMounts": [{"name!": str, "mountPath!": str}]}
POD = {"spec": {"restartPolicy": ("Never", "OnFailure"), "terminationGracePeriodSeconds": int, "securityContext": USER,
                "containers!": [CONTAINER], "volumes": [{"name!": str, "persistentVolumeClaim": {"claimName!": str},
                                                         "emptyDir": {"medium": str, "sizeLimit": str}}]}}
REPLICAS = {"replicas": int, "restartPolicy": ("Never", "OnFailure"), "template": POD}
JOB = {"name!": str, "dependsOn": [{"name!": str, "status!": ("Ready", "Complete")}],
       "template!": {"metadata": {"labels": dict}, "spec": {"backoffLimit": int, "template!": POD}}}
SPECS = {
    ("kubeflow.org/v2beta1", "MPIJob"): {
        "mpiImplementation": ("OpenMPI", "Intel", "MPICH"), "slotsPerWorker": int, "sshAuthMountPath": str,
        "launcherCreationPolicy": ("AtStartup", "WaitForWorkersReady"),
        "runPolicy": {"backoffLimit": int, "cleanPodPolicy": ("None", "Running", "All")},
        "mpiReplicaSpecs!": {"Launcher": REPLICAS, "Worker": REPLICAS}},
    ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"): {
        "mlPolicy": {"numNodes": int, "mpi": {"mpiImplementation": ("OpenMPI",), "numProcPerNode": int, "sshAuthMountPath": str,
                                              "runLauncherAsNode": bool}},
        "template!": {"spec": {"network": {"publishNotReadyAddresses": bool}, "failurePolicy": {"maxRestarts": int},
                              "successPolicy": {"operator!": ("All", "Any"), "targetReplicatedJobs": [str]},
                              "replicatedJobs": [JOB]}}},
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): {
        "runtimeRef!": {"apiGroup": str, "kind": ("TrainingRuntime", "ClusterTrainingRuntime"), "name!": str},
        "trainer": {"numNodes": int, "command": [str], "args": [str], "resourcesPerNode": RESOURCES}}}


def strange(x, fields, place=""):
    """What of x the fields do not allow; a name with ! has to be there."""
    if isinstance(fields, list):
        return [word for k, each in enumerate(x) for word in strange(each, fields[0], f"{place}[{k}]")]
    if isinstance(fields, dict):
        known = {name.rstrip("!"): kind for name, kind in fields.items()}
        lacking = [f"{place}.{name[:-1]} is not there" for name in fields if name[-1] == "!" and name[:-1] not in x]
        return lacking + [word for name, value in x.items() for word in (
            strange(value, known[name], f"{place}.{name}") if name in known else [f"{place}.{name} is no field"])]
    right = x in fields if isinstance(fields, tuple) else type(x) is fields
    return [] if right else [f"{place} is {x!r}"]


def closed(schema):
    """The schema without fields that it does not name."""
    if isinstance(schema, list):
        return [*map(closed, schema)]
    if not isinstance(schema, dict):
        return schema
    more = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    free = {"type"} if schema.get("x-kubernetes-int-or-string") else set()
    return more | {key: closed(x) for key, x in schema.items() if key not in free}


@pytest.mark.parametrize("file", ["mpijob.yaml", "trainjob.yaml"])
def test_the_manuals_jobs_have_the_fields_that_there_are(file):
    for job in pytest.importorskip("yaml").safe_load_all((SCRIPTS / file).read_text("utf-8")):
        fields = {"apiVersion!": str, "kind!": str, "metadata!": {"name!": str, "labels": dict},
                  "spec!": SPECS[job["apiVersion"], job["kind"]]}
        assert strange(job, fields) == []
        spoilt = {**job, "spec": {**job["spec"], "replica": 8}}
        assert strange(spoilt, fields) == [".spec.replica is no field"]


@pytest.mark.skipif("XMAN_CRDS" not in os.environ, reason="XMAN_CRDS=FOLDER has the operators' definitions, MPIJob.yaml, …")
@pytest.mark.parametrize("file", ["mpijob.yaml", "trainjob.yaml"])
def test_the_manuals_jobs_agree_with_the_operators_definitions(file):
    yaml, jsonschema = pytest.importorskip("yaml"), pytest.importorskip("jsonschema")
    for job in yaml.safe_load_all((SCRIPTS / file).read_text("utf-8")):
        spec = yaml.safe_load((Path(os.environ["XMAN_CRDS"]) / f"{job['kind']}.yaml").read_text("utf-8"))["spec"]
        (version,) = (v for v in spec["versions"] if f"{spec['group']}/{v['name']}" == job["apiVersion"])
        jsonschema.validate(job["spec"], closed(version["schema"]["openAPIV3Schema"]["properties"]["spec"]))


def pods(x):
    """All pods in a job."""
    if isinstance(x, (dict, list)):
        yield from [x] if "containers" in x else ()
        for each in x.values() if isinstance(x, dict) else x:
            yield from pods(each)


@pytest.mark.parametrize("file", ["mpijob.yaml", "trainjob.yaml"])
def test_the_manuals_jobs_have_volume_user_resources_credentials_and_retries(file):
    text = (SCRIPTS / file).read_text("utf-8")
    every = [pod for job in pytest.importorskip("yaml").safe_load_all(text) for pod in pods(job)]
    containers = [container for pod in every for container in pod["containers"]]
    assert all(c["securityContext"]["runAsNonRoot"] and c["resources"]["limits"] for c in containers)
    assert [pod["terminationGracePeriodSeconds"] for pod in every] == [120, 120] and sum("envFrom" in c for c in containers) == 1
    (worker,) = (pod for pod in every if "readinessProbe" in pod["containers"][0])
    assert {mount["mountPath"] for mount in worker["containers"][0]["volumeMounts"]} == {"/shared", "/dev/shm"}
    assert "persistentVolumeClaim" in worker["volumes"][0] and "--checkpoint, /shared/" in text and "backoffLimit: 6" in text
