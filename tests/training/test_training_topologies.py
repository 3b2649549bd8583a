"""Topologies that really run here: two nodes on loopback, FSDP2 and ZeRO on CPUs; the others are parsed."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from safetensors.torch import load_file
from support import REPOSITORY, free_port
from training_support import FINETUNE, Family, environment, start

# One xdist worker: the run of one process is made once.
pytestmark = pytest.mark.xdist_group("training-topologies")
CONFIGS = REPOSITORY / "training" / "configs"
SHARDED = Path(__file__).with_name("sharded_on_cpu.py")
RECIPE = ["--epochs", "2", "--dropout", "0", "--learning-rate", "1e-3", "--per-device-batch-size", "2"]
LAUNCH = [sys.executable, "-m", "accelerate.commands.launch"]
# Kept apart from the environment: wherever it can be imported, transformers imports it on every save.
DEEPSPEED = Path(sys.prefix) / "deepspeed"


@pytest.fixture(scope="module")
def deepspeed() -> str:
    """The folder that DeepSpeed was installed into, as a search path."""
    if not DEEPSPEED.is_dir():
        reason = f"needs `pip install --no-deps --target {DEEPSPEED} deepspeed` and what it imports"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return f"{REPOSITORY}{os.pathsep}{DEEPSPEED}"


@pytest.fixture(scope="module")
def plain(family: Family, pairs_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of one process, not interrupted."""
    output = tmp_path_factory.mktemp("plain") / "run"
    done = start(FINETUNE, arguments(family("roberta"), pairs_file, output))
    assert done.returncode == 0, done.stderr[-2000:]
    return output


def arguments(model: Path, pairs: Path, output: Path) -> list[str]:
    return ["--model", str(model), "--dataset", str(pairs), "--output", str(output), *RECIPE]


def for_two_cpus(config: str, folder: Path) -> Path:
    """A copy of a published configuration with two processes and without mixed precision."""
    values = yaml.safe_load((CONFIGS / config).read_text())
    values.update(num_processes=2, mixed_precision="no", use_cpu=config.startswith("fsdp"))
    path = folder / config
    path.write_text(yaml.safe_dump(values))
    return path


def launch(config: Path, script: Sequence[str], status: int, **changes: str) -> None:
    done = subprocess.run(
        [*LAUNCH, "--config_file", str(config), *script],
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode == 0) is (status == 0), done.stderr[-3000:]


def stop_and_resume(config: Path, script: list[str], **changes: str) -> None:
    """Let a signal end the run in the middle of its second epoch, then go on with it."""
    sharded = [str(SHARDED), *script]
    launch(config, sharded, 1, STOP_AT="7", **changes)
    output = Path(script[script.index("--output") + 1])
    assert [p.name for p in (output / "checkpoints").glob("step-*")] == ["step-00000007"]
    launch(config, [*sharded, "--resume"], 0, **changes)


def assert_same_result(output: Path, plain: Path, name: str) -> None:
    story = json.loads((output / "run.json").read_text())
    # The export, loaded again, against the sharded model at the moment it was chosen.
    assert story["reload_difference"] <= 1e-6
    topology = story["topology"]
    assert (topology["name"], topology["world_size"]) == (name, 2)
    first, second = (load_file(folder / "model.safetensors") for folder in (output, plain))
    assert first.keys() == second.keys()
    assert max(float((first[key] - second[key]).abs().max()) for key in first) <= 1e-5
    lines = [(folder / "predictions.csv").read_text().split() for folder in (output, plain)]
    values = [[float(line.split(",")[1]) for line in part[1:]] for part in lines]
    assert values[0] == pytest.approx(values[1], abs=1e-5)


@pytest.mark.slow
def test_fsdp2_shards_trains_resumes_and_exports_as_one_process_does(
    family: Family, pairs_file: Path, plain: Path, tmp_path: Path
) -> None:
    config, output = for_two_cpus("fsdp2.yaml", tmp_path), tmp_path / "run"
    stop_and_resume(config, [str(FINETUNE), *arguments(family("roberta"), pairs_file, output)])
    assert_same_result(output, plain, "FSDP")


@pytest.mark.slow
def test_a_sharded_checkpoint_is_not_resumed_without_sharding(
    family: Family, pairs_file: Path, tmp_path: Path
) -> None:
    config, output = for_two_cpus("fsdp2.yaml", tmp_path), tmp_path / "run"
    script = [str(FINETUNE), *arguments(family("roberta"), pairs_file, output)]
    launch(config, [str(SHARDED), *script], 1, STOP_AT="2")
    done = start(FINETUNE, [*script[1:], "--resume"])
    assert done.returncode == 2, done.stderr[-2000:]
    assert "a checkpoint of topology FSDP, resumed under NO" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("stage", [2, 3])
def test_zero_shards_trains_resumes_and_exports_as_one_process_does(
    family: Family, pairs_file: Path, plain: Path, tmp_path: Path, stage: int, deepspeed: str
) -> None:
    config, output = for_two_cpus(f"deepspeed_zero{stage}.yaml", tmp_path), tmp_path / "run"
    script = [str(FINETUNE), *arguments(family("roberta"), pairs_file, output)]
    changes = {"DS_ACCELERATOR": "cpu", "ACCELERATE_USE_CPU": "false", "PYTHONPATH": deepspeed}
    stop_and_resume(config, script, **changes)
    assert_same_result(output, plain, "DEEPSPEED")


@pytest.mark.slow
def test_two_nodes_on_loopback_train_as_one_process_does(
    family: Family, pairs_file: Path, plain: Path, tmp_path: Path
) -> None:
    port = str(free_port())
    values = yaml.safe_load((CONFIGS / "multi_node_ddp.yaml").read_text())
    values.update(num_processes=2, mixed_precision="no", use_cpu=True, main_process_port=int(port))
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(values))
    output = tmp_path / "run"
    script = [str(FINETUNE), *arguments(family("roberta"), pairs_file, output)]
    address = ["--main_process_ip", "127.0.0.1", "--main_process_port", port]
    logs, nodes = [tmp_path / f"node-{rank}.log" for rank in (0, 1)], []
    for rank, log in enumerate(logs):
        command = [*LAUNCH, "--config_file", str(config), "--machine_rank", str(rank), *address, *script]
        with log.open("w") as stream:
            nodes.append(subprocess.Popen(command, env=environment(), stdout=stream, stderr=stream))
    assert [node.wait(timeout=600) for node in nodes] == [0, 0], [log.read_text()[-3000:] for log in logs]
    assert_same_result(output, plain, "MULTI_CPU")


@pytest.mark.slow
def test_fsdp_without_accelerators_is_refused_and_not_replaced_by_copies(
    family: Family, pairs_file: Path, tmp_path: Path
) -> None:
    done = start(
        FINETUNE,
        arguments(family("bert"), pairs_file, tmp_path / "run"),
        ACCELERATE_USE_FSDP="true",
        FSDP_VERSION="2",
    )
    assert done.returncode == 2, done.stderr[-2000:]
    assert "the launcher asked for FSDP" in done.stderr


@pytest.mark.parametrize("config", sorted(path.name for path in CONFIGS.glob("*.yaml")))
def test_every_configuration_is_one_that_accelerate_reads_and_names_its_command(config: str) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    loaded = load_config_from_file(str(CONFIGS / config))
    values = yaml.safe_load((CONFIGS / config).read_text())
    assert loaded.num_processes == values["num_processes"]
    assert loaded.distributed_type.value == values["distributed_type"]
    command = re.search(r"accelerate launch --config_file (\S+)", (CONFIGS / config).read_text())
    assert command is not None
    assert (REPOSITORY / command[1]).samefile(CONFIGS / config)


def test_there_is_a_configuration_for_every_topology() -> None:
    assert {path.stem for path in CONFIGS.glob("*.yaml")} == {
        "cpu",
        "cpu_ddp_2proc",
        "single_gpu",
        "multi_gpu_ddp",
        "multi_node_ddp",
        "fsdp2",
        "deepspeed_zero2",
        "deepspeed_zero3",
        "tpu",
        "mps",
    }
    assert os.listdir(CONFIGS) == [path for path in os.listdir(CONFIGS) if path.endswith(".yaml")]
