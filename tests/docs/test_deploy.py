"""What is shipped for running it elsewhere is sound to the tools that check such files, and names what there is.

No container is started here, and no cluster asked.
"""

import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # comes with schemathesis, without stubs

from moot.doors.http.metrics import Meters
from moot.hub.telemetry.vitals import Vitals
from moot.model.records.outbox import LogFigures
from moot.settings import parse

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
ROOMS = ("compose/hub.toml", "compose/worker.toml", "kubernetes/hub.toml", "kubernetes/worker.toml")

pytestmark = pytest.mark.req("P-07")


def documents(path: Path) -> list[Any]:
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


def kubernetes() -> dict[tuple[str, str], Any]:
    found = [one for path in sorted(DEPLOY.glob("kubernetes/*.yaml")) for one in documents(path)]
    return {(one["kind"], one.get("metadata", {}).get("name", "")): one for one in found}


def checked_by(tool: str, *arguments: str | Path) -> None:
    """The tool, which is installed beside the interpreter, has nothing to say against it."""
    command = [str(Path(sys.executable).with_name(tool)), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_hadolint_has_nothing_to_say_against_the_image() -> None:
    checked_by("hadolint", ROOT / "Dockerfile")


def test_the_compose_file_is_one_to_its_specification() -> None:
    checked_by("check-jsonschema", "--builtin-schema", "vendor.compose-spec", ROOT / "docker-compose.yml")


def test_kubernetes_objects_have_the_fields_of_its_api_and_no_others() -> None:
    files = [path for path in sorted(DEPLOY.glob("kubernetes/*.yaml")) if path.stem != "kustomization"]
    checked_by("kubernetes-validate", "--strict", *files)


@pytest.mark.parametrize("name", ROOMS)
def test_the_settings_are_ones_that_moot_takes(name: str) -> None:
    settings = parse((DEPLOY / name).read_bytes(), {"MOOT_PG_PASSWORD": "a-password"})
    assert settings.store.url.startswith("postgresql://moot:a-password@")
    assert settings.hub.leads is ("hub" in name), "the file of a worker says nothing about links"


def test_the_image_runs_as_nobody_in_particular() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users == ["10001:10001"]
    after = lines[lines.index("USER 10001:10001") :]
    assert not any(line.startswith(("RUN ", "COPY ", "ADD ")) for line in after)
    assert any(line.startswith('ENTRYPOINT ["moot"]') for line in lines)


def test_compose_names_services_that_are_there() -> None:
    [compose] = documents(ROOT / "docker-compose.yml")
    services = compose["services"]
    assert set(services) == {"postgres", "kafka", "hub", "worker"}
    for name in ("hub", "worker"):
        service = services[name]
        assert set(service["depends_on"]) <= set(services)
        assert service["cap_drop"] == ["ALL"]
        mounted = [volume.split(":")[0] for volume in service["volumes"]]
        assert all((ROOT / path).is_file() for path in mounted if path.startswith("./"))
    assert all("127.0.0.1:" in port for service in services.values() for port in service.get("ports", ()))
    used = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", ())}
    assert {volume for volume in used if not volume.startswith(".")} == set(compose["volumes"])


@pytest.mark.parametrize("kind", [("StatefulSet", "hub"), ("Deployment", "worker")])
def test_pods_have_no_rights_they_do_not_need(kind: tuple[str, str]) -> None:
    spec = kubernetes()[kind]["spec"]
    pod = spec["template"]["spec"]
    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    volumes = {volume["name"] for volume in pod["volumes"]}
    volumes |= {claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", ())}
    for container in pod["containers"]:
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        assert container["resources"]["limits"]


def test_the_service_leads_to_the_hub() -> None:
    objects = kubernetes()
    selector = objects["Service", "hub"]["spec"]["selector"]
    assert selector == objects["StatefulSet", "hub"]["spec"]["selector"]["matchLabels"]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomize_takes_it() -> None:
    done = subprocess.run(
        ["kubectl", "kustomize", str(DEPLOY / "kubernetes")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    built = [one for one in yaml.safe_load_all(done.stdout) if one]
    maps = {one["metadata"]["name"] for one in built if one["kind"] == "ConfigMap"}
    used = {
        volume["configMap"]["name"]
        for one in built
        if one["kind"] in ("StatefulSet", "Deployment")
        for volume in one["spec"]["template"]["spec"]["volumes"]
        if "configMap" in volume
    }
    assert used == maps


def test_alerts_are_about_metrics_that_there_are() -> None:
    [rules] = documents(DEPLOY / "prometheus" / "moot.rules.yml")
    vitals, meters = Vitals(), Meters()
    vitals.log_figures = LogFigures
    meters.watch(vitals)
    text, _ = meters.render(position=0, live=0, open_turns=0)
    known = set(re.findall(r"^# TYPE (\w+) ", text.decode(), flags=re.M))
    for rule in rules["groups"][0]["rules"]:
        assert {"alert", "expr", "labels", "annotations"} <= set(rule)
        assert {"summary", "runbook"} == set(rule["annotations"])
        import_module("promql_parser").parse(rule["expr"])
        for name in re.findall(r"moot_\w+", rule["expr"]):
            assert name in known or name.removesuffix("_bucket") in known, (
                f"{rule['alert']}: there is no {name}"
            )
