"""Runs of finetune.py that meet an accident, in processes forked once everything is imported.

Usage: launched_faults.py PLAN REPORT. The plan is a list of scenarios: ``arguments`` of finetune.py,
``processes``, and ``fault``, what happens to rank 0.
"""

import json
import os
import resource
import runpy
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from lyricsim_models import checkpoints, encoders, exports, loop, outcome, training, workers
from lyricsim_models.config import Recipe
from lyricsim_models.registry import Model

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from run_and_part import watch_parting

FINETUNE = Path(__file__).resolve().parents[2] / "training" / "finetune.py"


def kill(number: int = signal.SIGKILL) -> None:
    os.kill(os.getpid(), number)


def at_call(owner: Any, name: str, count: int, before: Callable[[], None]) -> None:
    """Let something happen just before the ``count``-th call of a function."""
    original, calls = getattr(owner, name), [0]

    def wrapped(*arguments: Any, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] == count:
            before()
        return original(*arguments, **options)

    setattr(owner, name, wrapped)


def half_written(count: int) -> None:
    """Die in the middle of writing a checkpoint: some of its files there, one of them torn."""
    original, calls = workers.Workers.save_state, [0]

    def wrapped(self: workers.Workers, folder: Path) -> None:
        original(self, folder)
        calls[0] += 1
        if calls[0] == count:
            optimizer = folder / "optimizer.bin"
            optimizer.write_bytes(optimizer.read_bytes()[:100])
            kill()

    workers.Workers.save_state = wrapped  # type: ignore[method-assign]


def spoil_gradients(step: int) -> None:
    """Make one row's loss infinite at a step."""
    original = loop.Learner._squared_error

    def wrapped(self: loop.Learner, batch: Any) -> torch.Tensor:
        error = original(self, batch)
        return error * float("nan") if self.calls > step else error

    def counted(self: loop.Learner, *arguments: Any) -> Any:
        self.calls = getattr(self, "calls", 0) + 1
        return stepped(self, *arguments)

    stepped = loop.Learner.step
    loop.Learner.step = counted  # type: ignore[method-assign]
    loop.Learner._squared_error = wrapped  # type: ignore[method-assign]


FAULTS: dict[str, Callable[[int], None]] = {
    "kill before step": lambda n: at_call(loop.Learner, "step", n, kill),
    "kill in write": half_written,
    "kill before rename": lambda n: at_call(checkpoints, "flush_tree", n, kill),
    "kill before prune": lambda n: at_call(checkpoints, "prune", n, kill),
    "kill in best model": lambda n: at_call(exports, "set_usual_modes", n, kill),
    "kill in export": lambda n: at_call(outcome, "place", n, kill),
    "kill before completion": lambda n: at_call(outcome, "drop_checkpoints", n, kill),
    "terminate in step": lambda n: at_call(loop.Learner, "_agreed_loss", n, lambda: kill(signal.SIGTERM)),
    "interrupt in step": lambda n: at_call(loop.Learner, "_agreed_loss", n, lambda: kill(signal.SIGINT)),
    "terminate in evaluation": lambda n: at_call(
        training.Development, "predict", n, lambda: kill(signal.SIGTERM)
    ),
    "full disk": lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    "not a number from step": spoil_gradients,
}


def child(scenario: dict[str, Any], rank: int, port: int) -> None:
    log = os.open(scenario["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    if scenario["processes"] > 1:
        os.environ.update(
            RANK=str(rank),
            LOCAL_RANK=str(rank),
            WORLD_SIZE=str(scenario["processes"]),
            LOCAL_WORLD_SIZE=str(scenario["processes"]),
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=str(port),
        )
    if rank == 0 and scenario.get("fault"):
        name, value = scenario["fault"]
        FAULTS[name](value)
    watch_parting()
    sys.argv = [str(FINETUNE), *scenario["arguments"]]
    runpy.run_path(str(FINETUNE), run_name="__main__")


def play(scenario: dict[str, Any]) -> list[int]:
    """Exit status of each process; a negative number is the signal it died of."""
    port, running = scenario["port"], {}
    for rank in range(scenario["processes"]):
        pid = os.fork()
        if pid == 0:
            try:
                child(scenario, rank, port)
                status = 0
            except SystemExit as stop:
                status = stop.code if isinstance(stop.code, int) else 1
            except BaseException:  # noqa: BLE001
                import traceback

                traceback.print_exc()
                status = 99
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        running[pid] = rank
    statuses = [0] * scenario["processes"]
    while running:
        pid, code = os.wait()
        rank = running.pop(pid)
        statuses[rank] = os.waitstatus_to_exitcode(code)
        if statuses[rank] < 0:
            # As a launcher does: the others of a dead process's group are ended.
            for other in running:
                os.kill(other, signal.SIGKILL)
    return statuses


def warm_up(model: str) -> None:
    """Import what a run imports on its way, so that each child starts at once."""
    import pandas  # noqa: F401

    import lyricsim_cards.model_card  # noqa: F401
    import lyricsim_models.run  # noqa: F401

    encoders.load(Model(model), Recipe(), 0)


def main() -> None:
    plan = json.loads(Path(sys.argv[1]).read_text())
    arguments = plan[0]["arguments"]
    warm_up(arguments[arguments.index("--model") + 1])
    Path(sys.argv[2]).write_text(json.dumps([play(scenario) for scenario in plan]))


if __name__ == "__main__":
    main()
